// One run of Table 2 by gradients: the mixed-effect hidden Markov model of seals as a probabilistic program, with any
// effects, by Adam.
//
//   seals_adam variant=none|matrix|group|individual|both seed=0 [epochs=300] [threads=1]
#include <torch/torch.h>

#include <plated/torch/torch.hpp>

#include "harness/program.hpp"
#include "harness/progress.hpp"
#include "harness/result.hpp"
#include "seals/seals.hpp"

namespace experiments {
namespace {

using plated::torch::Parameters;
using plated::torch::Plate;
using plated::torch::Program;
using plated::torch::Value;

constexpr std::int64_t sexes = Seals::sexes, states = Seals::states, classes = Seals::classes;

at::Tensor tensor_of(const std::vector<double>& numbers, at::IntArrayRef shape) {
  return at::tensor(numbers, at::kDouble).reshape(shape);
}

/// The measurements as tensors, [sex, animal, step].
struct Measured {
  explicit Measured(const Seals& seals) {
    const std::vector<std::int64_t> shape{sexes, seals.animals, seals.longest};
    metres = tensor_of(seals.metres, shape);
    angle = tensor_of(seals.angle, shape);
    diving = tensor_of(seals.diving, shape);
    steps = at::tensor(seals.steps.values, at::kLong).reshape({sexes, seals.animals});
  }
  at::Tensor metres, angle, diving, steps;
};

void add_parameters(Parameters& p, const Variant& variant, std::uint32_t seed) {
  Start start(seed);
  p.positive("shape", tensor_of(start.shape, {states}));
  p.positive("rate", tensor_of(start.rate, {states}));
  p.unit_interval("still", at::full({states}, 0.01, at::kDouble));
  p.real("mean angle", tensor_of(start.mean_angle, {states}));
  p.positive("concentration", tensor_of(start.concentration, {states}));
  p.unit_interval("no dive", tensor_of(start.no_dive, {states}));
  p.positive("alpha", tensor_of(start.alpha, {states}));
  p.positive("beta", tensor_of(start.beta, {states}));
  const auto matrices = [&](std::int64_t count) {
    std::vector<double> all;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::vector<double> one = start.logits();
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  };
  if (variant.matrix) p.real("transition", tensor_of(matrices(1), {states, states}));
  if (variant.group) {
    p.simplex("groups", at::full({classes}, 1.0 / classes, at::kDouble));
    p.real("group effects", tensor_of(matrices(classes), {classes, states, states}));
  }
  if (variant.individual) {
    p.simplex("individuals", at::full({sexes, classes}, 1.0 / classes, at::kDouble));
    p.real("individual effects", tensor_of(matrices(sexes * classes), {sexes, classes, states, states}));
  }
}

/// [TVE] Fig. 8: effects of a sex and of an animal enter every transition of a track.
Program seal_program(const Parameters& p, const Variant& variant, const Measured& seen) {
  using plated::torch::Categorical;
  Program model;
  const Plate sex = model.plate("sex", sexes), animal = model.plate("animal", seen.steps.size(1));
  const Plate t = model.chain("t", seen.metres.size(2), {.lengths = {Value(seen.steps, {sex, animal})}});
  const auto in_sex = model.within({sex});
  std::vector<Value> group, individual;
  if (variant.group) group.push_back(model.sample("group", Categorical(p["groups"])));
  const auto in_animal = model.within({animal});
  if (variant.individual) individual.push_back(model.sample("individual", Categorical(Value(p["individuals"], {sex}))));
  const Value start = model.sample("start", Categorical(tensor_of({1, 0, 0}, {states})));
  model.markov(t, {start}, [&](const std::vector<Value>& before) {
    Value logits = Value(variant.matrix ? p["transition"] : at::zeros({states, states}, at::kDouble))[before[0]];
    for (const Value& g : group) logits = logits + Value(p["group effects"])[{g, before[0]}];
    for (const Value& i : individual) logits = logits + Value(p["individual effects"], {sex})[{i, before[0]}];
    const Value x = model.sample("state", Categorical::logits(logits));
    const auto of = [&](const char* name) { return Value(p[name])[x]; };
    using plated::torch::ZeroInflated;
    model.observe("metres", ZeroInflated(of("still"), plated::torch::Gamma(of("shape"), of("rate"))), seen.metres);
    model.observe("angle", plated::torch::VonMises(of("mean angle"), of("concentration")), seen.angle);
    model.observe("diving", ZeroInflated(of("no dive"), plated::torch::Beta(of("alpha"), of("beta"))), seen.diving);
    return std::vector{x};
  });
  return model;
}

std::vector<std::vector<double>> rows_of(const at::Tensor& posterior, const Seals& seals) {
  std::vector<std::vector<double>> rows;
  for (std::int64_t sex = 0; sex < sexes; ++sex) {
    const bool by_animal = posterior.dim() == 3;
    const std::int64_t count = by_animal ? seals.animals_of.values[static_cast<std::size_t>(sex)] : 1;
    for (std::int64_t n = 0; n < count; ++n) {
      const at::Tensor row = (by_animal ? posterior[sex][n] : posterior[sex]).contiguous();
      rows.emplace_back(row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
    }
  }
  return rows;
}

void run(Arguments& arguments) {
  const Clock clock;
  const std::string name = arguments.text("variant");
  const Variant variant(name);
  const std::int64_t seed = arguments.integer("seed", 0), epochs = arguments.integer("epochs", 300);
  const auto threads = static_cast<int>(arguments.integer("threads", 1));
  arguments.finish();
  at::set_num_threads(threads);
  const Seals seals(read_seal_tracks(data_path("seals/prep_seal_data.csv")));
  const Measured seen(seals);
  Parameters parameters;
  add_parameters(parameters, variant, static_cast<std::uint32_t>(seed));
  torch::optim::Adam optimizer(parameters.parameters(), torch::optim::AdamOptions(0.05));
  // A tenth of the rate when the loss has not fallen for some steps.
  torch::optim::ReduceLROnPlateauScheduler plateau(optimizer, torch::optim::ReduceLROnPlateauScheduler::min, 0.1F, 10,
                                                   1e-7);
  const plated::RunOptions options{.threads = threads};
  const auto loss = [&](std::int64_t) { return -seal_program(parameters, variant, seen).log_likelihood(options); };
  Progress told(name);
  const std::vector<double> losses = plated::torch::train(
      parameters, optimizer, loss, {.steps = epochs, .progress = [&](std::int64_t step, double now) {
                                      plateau.step(static_cast<float>(now));
                                      told.say("epoch", step, "ln L", -now);
                                      return true;
                                    }});
  told.done();
  const torch::NoGradGuard no_gradients;
  const Program fitted = seal_program(parameters, variant, seen);
  const double log_likelihood = fitted.log_likelihood(options).item<double>();
  Result result;
  result.set("variant", name).set("method", "adam").set("seed", seed);
  result.set("aic", -2 * log_likelihood + 2 * static_cast<double>(variant.parameters()));
  result.set("parameters", variant.parameters()).set("log_likelihood", log_likelihood);
  result.set("iterations", std::ssize(losses)).set("threads", std::int64_t{threads});
  if (variant.group || variant.individual) {
    const auto posterior = fitted.marginals(options);
    if (variant.group) result.set("effects_group", rows_of(posterior.at("group"), seals));
    if (variant.individual) result.set("effects", rows_of(posterior.at("individual"), seals));
  }
  std::vector<double> curve;
  for (const double now : losses) curve.push_back(-now);
  result.set("seconds", clock.seconds()).set("curve", thinned(curve, 25)).print();
}

}  // namespace
}  // namespace experiments

int main(int argc, char** argv) { return experiments::run_program(argc, argv, experiments::run); }
