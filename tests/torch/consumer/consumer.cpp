// A user's program on plated::torch, with [TVE] Ex. 5.1.
#include <ATen/ATen.h>
#include <plated/torch/torch.hpp>

#include <cmath>

int main() {
  using namespace plated::torch;  // NOLINT(google-build-using-namespace)
  const Value pz = at::tensor({0.1, 0.6, 0.8, 0.3}, at::kDouble).reshape({2, 2});
  const at::Tensor z = at::tensor({1, 0, 1, 1, 0, 0}, at::kLong).reshape({3, 2});
  Program model;
  auto x = model.sample("x", Bernoulli(0.3));
  auto I = model.plate("I", z.size(0)), J = model.plate("J", z.size(1));
  auto y = model.sample("y", Bernoulli(0.7), {I});
  model.observe("z", Bernoulli(pz[{x, y}]), z, {I, J});
  const double by_hand = std::log(
      0.7 * std::pow(0.3 * 0.1 * 0.9 + 0.7 * 0.6 * 0.4, 1) * (0.3 * 0.01 + 0.7 * 0.36) * (0.3 * 0.81 + 0.7 * 0.16) +
      0.3 * (0.3 * 0.8 * 0.2 + 0.7 * 0.3 * 0.7) * (0.3 * 0.64 + 0.7 * 0.09) * (0.3 * 0.04 + 0.7 * 0.49));
  return std::abs(model.log_likelihood().item<double>() - by_hand) < 1e-12 ? 0 : 1;
}
