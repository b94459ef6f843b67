// One run of Table 2 by exact EM: a mixed-effect hidden Markov model of seals whose effects are tables of their own.
//
//   seals_em variant=none|matrix|group|individual seed=0 [iterations=300] [track=0|1] [threads=1]
//
// With effects of one kind, a class has any matrix of transitions, so that EM learns them. With both kinds logits are
// sums, which is no table: seals_adam learns these. `track` adds a decoded track.
#include <plated/fit.hpp>
#include <plated/solve.hpp>

#include "harness/program.hpp"
#include "harness/progress.hpp"
#include "harness/result.hpp"
#include "seals/seals.hpp"

namespace experiments {
namespace {

using plated::Tensor;
using Names = std::vector<std::string>;

Tensor by_state(const std::vector<double>& numbers) { return Tensor::of({Seals::states}, numbers); }

/// Rows of probabilities from logits.
std::vector<double> normalised(std::vector<double> table) {
  for (auto row = table.begin(); row != table.end(); row += Seals::states) {
    double sum = 0;
    for (auto p = row; p != row + Seals::states; ++p) sum += * p = std::exp(*p);
    for (auto p = row; p != row + Seals::states; ++p) *p /= sum;
  }
  return table;
}

plated::Model seal_model(const Seals& seals, const Variant& variant, std::uint32_t seed) {
  Start start(seed);
  plated::FactorGraph graph;
  graph.plate("sex", Seals::sexes);
  graph.plate("animal", seals.animals);
  graph.chain("t", seals.longest);
  std::map<std::string, Tensor> tables;
  plated::ModelOptions options{.space = plated::Space::real};
  if (variant.group) graph.variable("effect", Seals::classes, {"sex"});
  if (variant.individual) graph.variable("effect", Seals::classes, {"sex", "animal"});
  graph.variable("before", Seals::states, {"sex", "animal", "t"});
  graph.variable("state", Seals::states, {"sex", "animal", "t"});
  graph.link("t", "before", "state");
  graph.factor("start", {"^before"}, {.tied = {"sex", "animal"}, .distribution_of = "^before"});
  tables.emplace("start", by_state({1, 0, 0}));
  Names dims{"before", "state"}, tied{"sex", "animal", "t"};
  Tensor::Shape shape{Seals::states, Seals::states};
  std::int64_t matrices = 1;
  if (variant.group) {
    graph.factor("effects", {"effect"}, {.tied = {"sex"}, .distribution_of = "effect"});
    tables.emplace("effects", Tensor::of({Seals::classes}, std::vector<double>(Seals::classes, 1.0 / Seals::classes)));
    dims.insert(dims.begin(), "effect");
    shape.insert(shape.begin(), Seals::classes);
    matrices = Seals::classes;
  } else if (variant.individual) {
    graph.factor("effects", {"sex", "effect"}, {.tied = {"animal"}, .distribution_of = "effect"});
    tables.emplace("effects", Tensor::of({Seals::sexes, Seals::classes},
                                         std::vector<double>(Seals::sexes * Seals::classes, 1.0 / Seals::classes)));
    dims.insert(dims.begin(), {"sex", "effect"});
    tied = {"animal", "t"};
    shape.insert(shape.begin(), {Seals::sexes, Seals::classes});
    matrices = Seals::sexes * Seals::classes;
  }
  graph.factor("transition", dims, {.tied = tied, .distribution_of = "state"});
  const bool learnt = variant.matrix || variant.group || variant.individual;
  std::vector<double> logits;
  for (std::int64_t k = 0; k < matrices; ++k) {
    const std::vector<double> one = learnt ? start.logits() : std::vector<double>(Seals::states * Seals::states, 0.0);
    logits.insert(logits.end(), one.begin(), one.end());
  }
  tables.emplace("transition", Tensor::of(shape, normalised(logits)));
  const Names everywhere{"sex", "animal", "t"};
  for (const char* name : {"metres", "angle", "diving"}) graph.factor(name, {"state"}, {.tied = everywhere});
  options.likelihoods = {
      {"metres",
       {.family = plated::Family::gamma,
        .zero_inflated = true,
        .parameters = {{"shape", by_state(start.shape)},
                       {"rate", by_state(start.rate)},
                       {"zero", by_state({0.01, 0.01, 0.01})}}}},
      {"angle",
       {.family = plated::Family::von_mises,
        .parameters = {{"mean", by_state(start.mean_angle)}, {"concentration", by_state(start.concentration)}}}},
      {"diving",
       {.family = plated::Family::beta,
        .zero_inflated = true,
        .parameters = {
            {"alpha", by_state(start.alpha)}, {"beta", by_state(start.beta)}, {"zero", by_state(start.no_dive)}}}}};
  graph.output({});
  return plated::make_model(graph, tables, options);
}

plated::Data seal_data(const Seals& seals) {
  const Tensor::Shape shape{Seals::sexes, seals.animals, seals.longest};
  return {.measurements = {{"metres", Tensor::of(shape, seals.metres)},
                           {"angle", Tensor::of(shape, seals.angle)},
                           {"diving", Tensor::of(shape, seals.diving)}},
          .lengths = {{"t", seals.steps}}};
}

/// The posterior of each animal's or each sex's class, a row each.
std::vector<std::vector<double>> posterior_of_effects(const plated::Model& model, const Seals& seals,
                                                      const Variant& variant) {
  const Tensor effects = plated::marginals(model).at("effect");
  std::vector<std::vector<double>> rows;
  for (std::int64_t sex = 0; sex < Seals::sexes; ++sex) {
    const std::int64_t count = variant.individual ? seals.animals_of.values[static_cast<std::size_t>(sex)] : 1;
    for (std::int64_t n = 0; n < count; ++n) {
      Tensor row = effects.select(0, sex);
      rows.push_back(variant.individual ? row.select(0, n).values() : row.values());
    }
  }
  return rows;
}

/// The most probable states of one track and where it went, in kilometres: that of the animal whose track is in the
/// middle by length.
void add_track(Result& result, const plated::Model& model, const Seals& seals) {
  std::vector<std::pair<std::size_t, std::pair<std::int64_t, std::int64_t>>> by_length;
  for (std::size_t sex = 0; sex < seals.tracks.size(); ++sex) {
    for (std::size_t n = 0; n < seals.tracks[sex].size(); ++n) {
      by_length.push_back(
          {seals.tracks[sex][n].steps.size(), {static_cast<std::int64_t>(sex), static_cast<std::int64_t>(n)}});
    }
  }
  std::ranges::sort(by_length);
  const auto [sex, n] = by_length[by_length.size() / 2].second;
  const SealTrack& track = seals.tracks[static_cast<std::size_t>(sex)][static_cast<std::size_t>(n)];
  const plated::MapResult best = plated::map(model);
  std::string states;
  std::vector<std::vector<double>> places;
  for (std::int64_t t = 0; t < std::ssize(track.steps); ++t) {
    states += static_cast<char>('0' + best.assignment.at("state").at({sex, n, t}));
    const SealStep& step = track.steps[static_cast<std::size_t>(t)];
    places.push_back({std::round(step.x / 100) / 10, std::round(step.y / 100) / 10});
  }
  result.set("animal", track.animal).set("states", states).set("places", places);
}

void run(Arguments& arguments) {
  const Clock clock;
  const std::string name = arguments.text("variant");
  const Variant variant(name);
  if (variant.group && variant.individual) throw std::runtime_error("EM has no M-step for effects that are added");
  const std::int64_t seed = arguments.integer("seed", 0);
  plated::FitOptions options;
  options.iterations = arguments.integer("iterations", 300);
  options.tolerance = 1e-9;
  options.learn = {"metres", "angle", "diving"};
  if (name != "none") options.learn.emplace_back("transition");
  if (variant.group || variant.individual) options.learn.emplace_back("effects");
  options.threads = static_cast<int>(arguments.integer("threads", 1));
  Progress told(name);
  options.progress = [&](const plated::FitProgress& progress) {
    told.say("iteration", progress.iteration, "ln L", progress.objective);
  };
  const bool with_track = arguments.integer("track", 0) == 1;
  arguments.finish();
  const Seals seals(read_seal_tracks(data_path("seals/prep_seal_data.csv")));
  const plated::Data data = seal_data(seals);
  plated::Fit fit = plated::fit(seal_model(seals, variant, static_cast<std::uint32_t>(seed)), data, options);
  told.done();
  Result result;
  result.set("variant", name).set("method", "em").set("seed", seed);
  result.set("aic", -2 * fit.log_likelihood + 2 * static_cast<double>(variant.parameters()));
  result.set("parameters", variant.parameters()).set("log_likelihood", fit.log_likelihood);
  result.set("iterations", fit.restarts[0].iterations).set("threads", std::int64_t{options.threads});
  measure(fit.model, data.measurements);
  fit.model.lengths = data.lengths;
  if (variant.group || variant.individual) {
    result.set("females", seals.animals_of.values[0]);
    result.set("effects", posterior_of_effects(fit.model, seals, variant));
  }
  if (with_track) add_track(result, fit.model, seals);
  for (const auto& [factor, parameter] : std::vector<std::pair<const char*, const char*>>{{"metres", "shape"},
                                                                                          {"metres", "rate"},
                                                                                          {"angle", "mean"},
                                                                                          {"angle", "concentration"},
                                                                                          {"diving", "zero"},
                                                                                          {"diving", "alpha"},
                                                                                          {"diving", "beta"}}) {
    result.set(std::string(factor) + "_" + parameter,
               fit.model.likelihoods.at(factor).parameters.at(parameter).values());
  }
  result.set("seconds", clock.seconds()).set("curve", thinned(fit.history, 25)).print();
}

}  // namespace
}  // namespace experiments

int main(int argc, char** argv) { return experiments::run_program(argc, argv, experiments::run); }
