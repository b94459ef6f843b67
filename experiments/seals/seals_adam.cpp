// One run of Table 2 by gradients: the mixed-effect hidden Markov model of seals as a probabilistic program, with any
// effects, by Adam.
//
//   seals_adam variant=none|matrix|group|individual|both seed=0 [start=random|em] [rate=0.05] [epochs=300] [threads=1]
//
// With start=em, both kinds of effects begin where EM ends with those of individuals alone, the best of five starts,
// and next to none of groups: the model nests that one, and must not end below it.
#include <torch/torch.h>

#include <plated/torch/torch.hpp>

#include "harness/program.hpp"
#include "harness/progress.hpp"
#include "harness/result.hpp"
#include "seals/seal_model.hpp"

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

/// The best of five EM fits with effects of individuals.
plated::Model individual_optimum(const Seals& seals, std::uint32_t seed, int threads) {
  const Variant variant("individual");
  plated::FitOptions options = seal_fit_options(variant);
  options.threads = threads;
  std::optional<plated::Fit> best;
  for (std::uint32_t k = 0; k < 5; ++k) {
    plated::Fit fit = plated::fit(seal_model(seals, variant, 5 * seed + k), seal_data(seals), options);
    if (!best || fit.log_likelihood > best->log_likelihood) best = std::move(fit);
  }
  return best->model;
}

/// Gives parameters these numbers, and effects of groups a hundredth of what they were: none at all would be a saddle.
void start_from(Parameters& p, const plated::Model& model) {
  const auto give = [&](const char* name, const plated::Tensor& numbers) {
    p.assign(name, plated::torch::tensor(numbers).to(at::kDouble).reshape(p[name].sizes()));
  };
  const auto of = [&](const char* likelihood, const char* name) {
    return model.likelihoods.at(likelihood).parameters.at(name);
  };
  give("shape", of("metres", "shape"));
  give("rate", of("metres", "rate"));
  p.assign("still", at::full({states}, 1e-9, at::kDouble));  // no step of a complete row is zero
  give("mean angle", of("angle", "mean"));
  give("concentration", of("angle", "concentration"));
  give("no dive", of("diving", "zero"));
  give("alpha", of("diving", "alpha"));
  give("beta", of("diving", "beta"));
  const auto& factors = model.graph.factors();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].name == "effects") give("individuals", model.factors[f]);
    if (factors[f].name != "transition") continue;
    const at::Tensor rows = plated::torch::tensor(model.factors[f]).to(at::kDouble);
    p.assign("individual effects", rows.clamp_min(1e-8).log().reshape(p["individual effects"].sizes()));
  }
  p.assign("group effects", 0.01 * p["group effects"].detach());
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
  const double rate = arguments.number("rate", 0.05);
  const std::string start = arguments.text("start", "random");
  arguments.finish();
  at::set_num_threads(threads);
  const Seals seals(read_seal_tracks(data_path("seals/prep_seal_data.csv")));
  const Measured seen(seals);
  Parameters parameters;
  add_parameters(parameters, variant, static_cast<std::uint32_t>(seed));
  if (start == "em") start_from(parameters, individual_optimum(seals, static_cast<std::uint32_t>(seed), threads));
  torch::optim::Adam optimizer(parameters.parameters(), torch::optim::AdamOptions(rate));
  // A tenth of the rate when the loss has not fallen for some steps.
  torch::optim::ReduceLROnPlateauScheduler plateau(optimizer, torch::optim::ReduceLROnPlateauScheduler::min, 0.1F, 10,
                                                   1e-7);
  const plated::RunOptions options{.threads = threads};
  double least = std::numeric_limits<double>::infinity();
  std::vector<at::Tensor> best;  // steps may lose: the parameters of the least loss are kept
  const auto loss = [&](std::int64_t /*step*/) {
    at::Tensor now = -seal_program(parameters, variant, seen).log_likelihood(options);
    if (now.item<double>() < least) {
      least = now.item<double>();
      best.clear();
      for (const at::Tensor& parameter : parameters.parameters()) best.push_back(parameter.detach().clone());
    }
    return now;
  };
  Progress told(name);
  const std::vector<double> losses = plated::torch::train(
      parameters, optimizer, loss, {.steps = epochs, .progress = [&](std::int64_t step, double now) {
                                      plateau.step(static_cast<float>(now));
                                      told.say("epoch", step, "ln L", -now);
                                      return true;
                                    }});
  told.done();
  const torch::NoGradGuard no_gradients;
  (void)loss(epochs);
  std::size_t next = 0;
  for (at::Tensor& parameter : parameters.parameters()) parameter.copy_(best[next++]);
  const Program fitted = seal_program(parameters, variant, seen);
  const double log_likelihood = fitted.log_likelihood(options).item<double>();
  Result result;
  result.set("variant", name).set("method", "adam").set("seed", seed).set("start", start);
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
