// A mixture of normal distributions that is trained on minibatches.
#include <torch/torch.h>
#include <plated/torch/torch.hpp>

#include <cstdio>

using namespace plated::torch;  // NOLINT(google-build-using-namespace)

namespace {

at::Tensor loss(const Parameters& p, const at::Tensor& data, const at::Tensor& batch) {
  Program model;
  const Plate n = model.plate("n", data.size(0), {.batch = batch});
  const Value kind = model.sample("kind", Categorical(p["weights"]), {n});
  model.observe("x", Normal(Value(p["means"])[kind], Value(p["deviations"])[kind]), data, {n});
  model.observe("prior", Dirichlet(at::full({3}, 2.0, at::kDouble)), p["weights"]);
  return -model.log_likelihood() / static_cast<double>(data.size(0));
}

}  // namespace

int main() {
  at::manual_seed(1);
  const at::Tensor centers = at::tensor({-4.0, 0.0, 5.0}, at::kDouble);
  const at::Tensor data =
      centers.index_select(0, at::randint(3, {600}, at::kLong)) + 0.7 * at::randn({600}, at::kDouble);

  Parameters p;
  p.simplex("weights", at::full({3}, 1.0 / 3, at::kDouble));
  p.real("means", at::tensor({-1.0, 0.1, 1.0}, at::kDouble));
  p.positive("deviations", at::ones({3}, at::kDouble));
  ::torch::optim::Adam optimizer(p.parameters(), ::torch::optim::AdamOptions(0.05));
  const auto losses = train(
      p, optimizer, [&](std::int64_t) { return loss(p, data, at::randperm(600).slice(0, 0, 100)); }, {.steps = 400});
  std::printf("loss %.3f, then %.3f\n", losses.front(), losses.back());
  for (int k = 0; k < 3; ++k) {
    std::printf("%.2f of the data around %.2f\n", p["weights"][k].item<double>(), p["means"][k].item<double>());
  }
  return (p["means"] - centers).abs().max().item<double>() < 0.3 ? 0 : 1;
}
