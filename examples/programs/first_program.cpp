// [TVE] Ex. 5.1 as a program: a coin x for all, a coin y for each row, and observed z for each row and column.
#include <torch/torch.h>
#include <plated/torch/torch.hpp>

#include <cstdio>

using namespace plated::torch;  // NOLINT(google-build-using-namespace)

int main() {
  const at::Tensor px = at::scalar_tensor(0.3, at::kDouble).requires_grad_();
  const at::Tensor py = at::scalar_tensor(0.7, at::kDouble);
  const Value pz = at::tensor({0.1, 0.6, 0.8, 0.3}, at::kDouble).reshape({2, 2});
  const at::Tensor z = at::tensor({1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1}, at::kLong).reshape({3, 4});

  Program model;
  auto x = model.sample("x", Bernoulli(px));
  auto I = model.plate("I", z.size(0)), J = model.plate("J", z.size(1));
  auto y = model.sample("y", Bernoulli(py), {I});
  model.observe("z", Bernoulli(pz[{x, y}]), z, {I, J});

  const at::Tensor log_likelihood = model.log_likelihood();
  log_likelihood.backward();
  std::printf("log p(z) = %.6f, its derivative by px = %.6f\n", log_likelihood.item<double>(),
              px.grad().item<double>());
  const at::Tensor rows = model.marginals().at("y");
  for (std::int64_t i = 0; i < rows.size(0); ++i)
    std::printf("p(y[%d] = 1 | z) = %.4f\n", int(i), rows[i][1].item<double>());
  std::printf("%s", model.explain().c_str());
}
