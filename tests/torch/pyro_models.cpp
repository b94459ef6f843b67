// Prints losses and gradients of programs, for compare_with_pyro.py: a line for each, "name loss gradient…".
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <functional>

#include "plated/torch/torch.hpp"

namespace plated::torch {
namespace {

using Values = std::vector<Value>;
using Inputs = std::vector<at::Tensor>;

/// The same numbers as compare_with_pyro.py's function of this name.
at::Tensor wave(std::vector<std::int64_t> shape, double seed) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return at::sin(at::arange(count, at::kDouble) * 1.7 + seed).reshape(shape);
}

at::Tensor coins(std::vector<std::int64_t> shape, double seed) {
  return (wave(std::move(shape), seed) > 0.1).to(at::kLong);
}

void print(const char* name, Inputs inputs, const std::function<void(Program&, const Inputs&)>& model) {
  for (at::Tensor& input : inputs) input.requires_grad_();
  Program program;
  model(program, inputs);
  const at::Tensor loss = -program.log_likelihood();
  loss.backward();
  std::printf("%s %.17g", name, loss.item<double>());
  for (const at::Tensor& input : inputs) {
    const at::Tensor flat = input.grad().contiguous().view(-1);
    for (std::int64_t k = 0; k < flat.numel(); ++k) std::printf(" %.17g", flat[k].item<double>());
  }
  std::printf("\n");
}

void hidden_markov(Program& model, const Inputs& p, bool autoregressive) {
  const at::Tensor y = coins({4, 6}, 0.3);
  const Plate n = model.plate("n", 4), t = model.chain("t", 6);
  const at::Tensor before_y = at::cat({at::zeros({4, 1}, at::kLong), y.slice(1, 0, 5)}, 1);
  const auto scope = model.within({n});
  const Value x0 = model.sample("x0", Categorical::logits(p[0]));
  model.markov(t, {x0}, [&](const Values& before) {
    const Value x = model.sample("x", Categorical::logits(Value(p[1])[before[0]]));
    const Value logits = autoregressive ? Value(p[2])[{x, Value(before_y, {n, t})}] : Value(p[2])[x];
    model.observe("y", Bernoulli::logits(logits), y);
    return Values{x};
  });
}

void factorial(Program& model, const Inputs& p) {
  const at::Tensor y = coins({5}, 0.9);
  const Value w0 = model.sample("w0", Categorical::logits(p[0])), x0 = model.sample("x0", Categorical::logits(p[1]));
  model.markov(model.chain("t", 5), {w0, x0}, [&](const Values& before) {
    const Value w = model.sample("w", Categorical::logits(Value(p[2])[before[0]]));
    const Value x = model.sample("x", Categorical::logits(Value(p[3])[before[1]]));
    model.observe("y", Bernoulli::logits(Value(p[4])[{w, x}]), y);
    return Values{w, x};
  });
}

void mixture(Program& model, const Inputs& p) {
  const at::Tensor y = 2 * wave({5, 3}, 0.2);
  const Value kind = model.sample("kind", Categorical::logits(p[0]));
  const Plate i = model.plate("i", 5), j = model.plate("j", 3);
  const Value k = model.sample("k", Categorical::logits(Value(p[1])[kind]), {i});
  model.observe("y", Normal(Value(p[2])[k], 1), y, {i, j});
}

void overlapping(Program& model, const Inputs& p) {
  const Plate i = model.plate("i", 3), j = model.plate("j", 4);
  const Value a = model.sample("a", Bernoulli::logits(p[0]));
  const Value b = model.sample("b", Bernoulli::logits(Value(p[1])[a]), {i});
  model.observe("u", Normal(Value(p[2])[a], 1), wave({4}, 0.4), {j});
  model.observe("z", Bernoulli::logits(Value(p[3])[{a, b}]), coins({3, 4}, 0.7), {i, j});
}

void subsampled(Program& model, const Inputs& p) {
  const Plate i = model.plate("i", 10, {.batch = at::tensor({7, 2, 5, 0}, at::kLong)});
  const Value k = model.sample("k", Categorical::logits(p[0]), {i});
  model.observe("y", Normal(Value(p[1])[k], 1), 2 * wave({10}, 0.2), {i});
}

void masked(Program& model, const Inputs& p) {
  const Plate n = model.plate("n", 4), t = model.chain("t", 6);
  const auto scope = model.within({n});
  const Value x0 = model.sample("x0", Categorical::logits(p[0]));
  model.markov(t, {x0}, [&](const Values& before) {
    const Value x = model.sample("x", Categorical::logits(Value(p[1])[before[0]]));
    model.observe("y", Normal(Value(p[2])[x], 1), wave({4, 6}, 0.3), {}, {.mask = {Value(coins({4, 6}, 0.5), {n, t})}});
    return Values{x};
  });
}

}  // namespace
}  // namespace plated::torch

int main() {
  using namespace plated::torch;  // NOLINT(google-build-using-namespace)
  print("hmm", {wave({3}, 1), wave({3, 3}, 2), wave({3}, 3)},
        [](Program& m, const Inputs& p) { hidden_markov(m, p, false); });
  print("autoregressive", {wave({3}, 1), wave({3, 3}, 2), wave({3, 2}, 3)},
        [](Program& m, const Inputs& p) { hidden_markov(m, p, true); });
  print("factorial", {wave({2}, 1), wave({3}, 2), wave({2, 2}, 3), wave({3, 3}, 4), wave({2, 3}, 5)}, factorial);
  print("mixture", {wave({2}, 1), wave({2, 3}, 2), wave({3}, 3)}, mixture);
  print("overlapping", {wave({}, 1), wave({2}, 2), wave({2}, 3), wave({2, 2}, 4)}, overlapping);
  print("subsampled", {wave({2}, 1), wave({2}, 2)}, subsampled);
  print("masked", {wave({3}, 1), wave({3, 3}, 2), wave({3}, 3)}, masked);
}
