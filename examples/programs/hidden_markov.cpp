// A hidden Markov model of sequences of unequal lengths, trained by gradients; then its most probable paths.
#include <torch/torch.h>
#include <plated/torch/torch.hpp>

#include <cstdio>

using namespace plated::torch;  // NOLINT(google-build-using-namespace)

namespace {

Program hidden_markov(const Parameters& p, const at::Tensor& y, const at::Tensor& lengths) {
  Program model;
  const Plate sequences = model.plate("sequences", y.size(0));
  const auto scope = model.within({sequences});
  const Plate time = model.chain("time", y.size(1), {.lengths = {Value(lengths, {sequences})}});
  const Value start = model.sample("start", Categorical(p["initial"]));
  model.markov(time, {start}, [&](const std::vector<Value>& before) {
    const Value x = model.sample("x", Categorical(Value(p["transition"])[before[0]]));
    model.observe("y", Poisson(Value(p["rate"])[x]), y);
    return std::vector{x};
  });
  return model;
}

}  // namespace

int main() {
  at::manual_seed(1);
  const std::int64_t count = 20, steps = 50;
  const at::Tensor phase = at::arange(steps) + 10 * at::arange(count).unsqueeze(1);
  const at::Tensor busy = (phase.floor_divide(10) % 2).to(at::kDouble);  // ten quiet steps, ten busy ones
  const at::Tensor y = at::poisson(1 + 7 * busy).to(at::kLong);
  const at::Tensor lengths = at::randint(25, steps + 1, {count}, at::kLong);

  Parameters p;
  p.simplex("initial", at::full({2}, 0.5, at::kDouble));
  p.simplex("transition", at::tensor({0.7, 0.3, 0.3, 0.7}, at::kDouble).reshape({2, 2}));
  p.positive("rate", at::tensor({2.0, 4.0}, at::kDouble));
  ::torch::optim::Adam optimizer(p.parameters(), ::torch::optim::AdamOptions(0.05));
  const auto loss = [&](std::int64_t) { return -hidden_markov(p, y, lengths).log_likelihood() / double(count); };
  const auto losses = train(p, optimizer, loss, {.steps = 150});
  std::printf("loss %.3f, then %.3f; rates %.2f and %.2f\n", losses.front(), losses.back(), p["rate"][0].item<double>(),
              p["rate"][1].item<double>());

  const at::Tensor path = hidden_markov(p, y, lengths).map().states.at("x");  // -1 beyond a sequence's length
  const at::Tensor right = at::logical_and(path >= 0, path == busy.to(at::kLong)).sum();
  const double share = right.item<double>() / lengths.sum().item<double>();
  std::printf("%.3f of the most probable states are those of the data\n", share);
  return share > 0.95 ? 0 : 1;
}
