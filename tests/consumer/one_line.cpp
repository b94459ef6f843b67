// The smallest program that uses Plated.
#include <plated/einsum.hpp>

int main() { return plated::einsum("a->", {plated::Tensor::of<double>({2}, {0, 0})}).item() > 0 ? 0 : 1; }
