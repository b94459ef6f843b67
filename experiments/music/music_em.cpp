// One run of Table 1 by exact EM: a model with tables is fitted to a training set and scored on the test set.
//
//   music_em set=jsb model=arHMM states=36 seed=0 [iterations=100] [threads=1] [sequences=…]
//   music_em set=jsb model=Bernoulli
//
// The second is the check of the reader: 88 independent notes. `sequences` takes the first ones alone.
#include <algorithm>
#include <cmath>

#include "harness/program.hpp"
#include "harness/progress.hpp"
#include "harness/result.hpp"
#include "music/music_sets.hpp"
#include "music/table_model.hpp"

namespace experiments {
namespace {

/// Nats for each step of the test set where each note is on as often as in the training set.
double independent_notes(const MusicSets& sets) {
  const std::vector<double> on = note_frequencies(sets.train, 1e-12);
  double sum = 0;
  for (std::size_t k = 0; k < sets.test.notes.size(); ++k) {
    const double p = on[k % on.size()];
    sum -= std::log(sets.test.notes[k] == 1 ? p : 1 - p);
  }
  return sum / static_cast<double>(sets.test.steps());
}

void run(Arguments& arguments) {
  const Clock clock;
  const std::string set = arguments.text("set"), model = arguments.text("model");
  const MusicSets sets(set, arguments.integer("sequences", 1 << 20));
  const auto threads = static_cast<int>(arguments.integer("threads", 1));
  Result result;
  result.set("set", set).set("model", model);
  if (model == "Bernoulli") {
    arguments.finish();
    result.set("method", "count").set("test_nll", independent_notes(sets)).set("seconds", clock.seconds()).print();
    return;
  }
  const MusicModelName name(model);
  const std::int64_t states = arguments.integer("states", 9), seed = arguments.integer("seed", 0);
  plated::FitOptions options;
  options.iterations = arguments.integer("iterations", 100);
  options.tolerance = 1e-6;
  options.threads = threads;
  Progress told(set + " " + model + " " + std::to_string(states));
  options.progress = [&](const plated::FitProgress& progress) {
    told.say("iteration", progress.iteration, "objective",
             -progress.objective / static_cast<double>(sets.train.steps()));
  };
  arguments.finish();
  const plated::Fit fit = plated::fit(table_model(name, states, sets.train, static_cast<std::uint32_t>(seed)),
                                      table_data(name, sets.train), options);
  told.done();
  const auto of_steps = [](double log_likelihood, const PianoRolls& rolls) {
    return -log_likelihood / static_cast<double>(rolls.steps());
  };
  const double test =
      plated::evaluate(fit.model, table_data(name, sets.test), {.threads = options.threads}).log_likelihood;
  std::vector<double> curve;
  for (const double objective : fit.history) curve.push_back(of_steps(objective, sets.train));
  result.set("states", states).set("method", "em").set("seed", seed);
  result.set("train_nll", of_steps(fit.log_likelihood, sets.train)).set("test_nll", of_steps(test, sets.test));
  result.set("iterations", fit.restarts[0].iterations).set("threads", std::int64_t{options.threads});
  result.set("seconds", clock.seconds()).set("curve", thinned(curve, 25)).print();
}

}  // namespace
}  // namespace experiments

int main(int argc, char** argv) { return experiments::run_program(argc, argv, experiments::run); }
