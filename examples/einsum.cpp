// Plated einsum in a few lines: a value, and the error for an intractable model.
#include <cstdio>
#include <plated/einsum.hpp>
#include <plated/error.hpp>

using plated::Semiring;
using plated::Tensor;

int main() {
  // Sums over x and over the y of each slice i; multiplies over plates i (2 slices) and j (3 slices).
  const auto f = Tensor::of<double>({2}, {0.5, 1.5});
  const auto g = Tensor::of<double>({2, 2}, {1, 2, 3, 1});
  const auto h = Tensor::of<double>({2, 3, 2, 2}, {1.0, 0.5, 0.5, 1.0, 2.0, 1.0, 1.0, 0.5, 1.0, 1.0, 0.5, 0.5,
                                                   0.5, 1.0, 1.0, 2.0, 1.0, 0.5, 0.5, 1.0, 1.0, 1.0, 2.0, 0.5});
  const Tensor z = plated::einsum("x,iy,ijxy->", {f, g, h}, {.plates = "ij", .semiring = Semiring::real});
  std::printf("x,iy,ijxy->   Z = %.6g\n\n", z.item());

  // A restricted Boltzmann machine: x in plate i, y in plate j, and a factor in both that holds x and y.
  try {
    const auto b = Tensor::of<double>({3, 2}, {1, 2, 3, 1, 1, 1});
    const auto rbm = plated::einsum("ix,jy,ijxy->", {g, b, h}, {.plates = "ij", .semiring = Semiring::real});
    std::printf("ix,jy,ijxy->  Z = %.6g\n", rbm.item());
  } catch (const plated::IntractableError& error) {
    const auto& [u, w, plate_u, plate_w, factors] = error.certificate();
    std::printf("%s\n\ncertificate: %s (plate %s) and %s (plate %s), joined by", error.what(), u.c_str(),
                plate_u.c_str(), w.c_str(), plate_w.c_str());
    for (const auto& factor : factors) std::printf(" %s", factor.c_str());
    std::printf("\n");
  }
}
