// A hidden Markov model with random effects of groups and of individuals ([TVE] Sec. 6.2), on made-up tracks.
#include <torch/torch.h>
#include <plated/torch/torch.hpp>

#include <cstdio>

using namespace plated::torch;  // NOLINT(google-build-using-namespace)

namespace {

struct Tracks {
  at::Tensor steps, angles, lengths;  // by group, individual and time
};

Program tracks(const Parameters& p, const Tracks& data) {
  Program model;
  const Plate groups = model.plate("groups", 2), animals = model.plate("animals", data.steps.size(1));
  const Value group = model.sample("group", Categorical(p["groups"]), {groups});
  const auto scope = model.within({groups, animals});
  const Value animal = model.sample("animal", Categorical(p["animals"]));
  const Value start = model.sample("start", Categorical(p["initial"]));
  const Plate time = model.chain("time", data.steps.size(2), {.lengths = {Value(data.lengths, {groups, animals})}});
  model.markov(time, {start}, [&](const std::vector<Value>& before) {
    const Value effects = Value(p["of_group"])[{group, before[0]}] + Value(p["of_animal"])[{animal, before[0]}];
    const Value x = model.sample("x", Categorical::logits(effects));
    model.observe("step", ZeroInflated(Value(p["resting"])[x], Gamma(Value(p["shape"])[x], Value(p["rate"])[x])),
                  data.steps);
    model.observe("angle", VonMises(0.0, Value(p["straight"])[x]), data.angles);
    return std::vector{x};
  });
  return model;
}

}  // namespace

int main() {
  at::manual_seed(2);
  const at::Tensor moving = (at::arange(40).floor_divide(8) % 2).to(at::kDouble).expand({2, 5, 40});
  Tracks data{at::rand({2, 5, 40}, at::kDouble) + 3 * moving, at::randn({2, 5, 40}, at::kDouble) * (1.5 - 1.2 * moving),
              at::randint(20, 41, {2, 5}, at::kLong)};
  data.steps.masked_fill_(at::logical_and(moving == 0, at::rand({2, 5, 40}) < 0.3), 0);  // at rest

  Parameters p;
  for (const char* name : {"groups", "animals", "initial"}) p.simplex(name, at::full({2}, 0.5, at::kDouble));
  for (const char* name : {"of_group", "of_animal"}) p.real(name, 0.1 * at::randn({2, 2, 2}, at::kDouble));
  p.unit_interval("resting", at::tensor({0.2, 0.1}, at::kDouble));
  p.positive("shape", at::tensor({1.0, 3.0}, at::kDouble));
  for (const char* name : {"rate", "straight"}) p.positive(name, at::ones({2}, at::kDouble));
  ::torch::optim::Adam optimizer(p.parameters(), ::torch::optim::AdamOptions(0.05));
  const auto losses =
      train(p, optimizer, [&](std::int64_t) { return -tracks(p, data).log_likelihood() / 10; }, {.steps = 100});
  const at::Tensor mean = p["shape"] / p["rate"];
  std::printf("loss %.2f, then %.2f; steps of %.2f and %.2f\n", losses.front(), losses.back(), mean[0].item<double>(),
              mean[1].item<double>());
  return losses.back() < losses.front() && mean[1].item<double>() > 2 * mean[0].item<double>() ? 0 : 1;
}
