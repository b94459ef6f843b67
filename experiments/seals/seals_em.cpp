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
#include "seals/seal_model.hpp"

namespace experiments {
namespace {

using plated::Tensor;

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
  const std::int64_t seed = arguments.integer("seed", 0);
  plated::FitOptions options = seal_fit_options(variant);
  options.iterations = arguments.integer("iterations", options.iterations);
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
