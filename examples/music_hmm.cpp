// Hidden Markov models of polyphonic music: the dependency structures of [TVE] Table 1, on the JSB chorales.
//
// Ten models: HMM, FHMM, PFHMM and 2HMM (by a full table and by Raftery's factors), each also autoregressive. Every one
// is a chain with 88 notes in a plate inside of it and sequences of unequal lengths in a plate around it; the notes are
// evidence. Parameters are random, so the figures are no match for trained ones. Each likelihood, and how much time is
// spent in each state, is compared with forward and backward recursions written by hand. Uses the first 20 sequences of
// the test set, or as many as its argument says.
#include <plated/plated.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check.hpp"
#include "data_folder.hpp"
#include "flat_forward_backward.hpp"
#include "music_models.hpp"
#include "piano_rolls.hpp"

using plated::Integers;

namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// By hand: the log-likelihood of all sequences, and the expected number of steps in each state of x.
struct ByHand {
  double log_likelihood = 0;
  std::vector<double> steps_in_x;
};

ByHand by_hand(const MusicModel& model, const PianoRolls& rolls) {
  const bool autoregressive = model.graph.find("before").has_value();
  const FlatChain& flat = model.flat;
  const auto states = static_cast<std::size_t>(flat.states);
  const std::size_t rows = model.emission.size() / (PianoRolls::keys * (autoregressive ? 4 : 2));
  std::vector<double> log_emission;
  for (const double p : model.emission) log_emission.push_back(std::log(p));
  std::vector<double> start(states, 0.0);
  start[0] = 1;
  ByHand result{.steps_in_x = std::vector<double>(static_cast<std::size_t>(model.x_states), 0.0)};
  const std::uint8_t* now = rolls.notes.data();
  for (const std::int64_t length : rolls.lengths) {
    std::vector<double> emission;
    for (std::int64_t t = 0; t < length; ++t, now += PianoRolls::keys) {
      std::vector<double> of_row(rows, 0.0);
      for (std::size_t key = 0; key < PianoRolls::keys; ++key) {
        std::size_t table = key;
        if (autoregressive) table = 2 * key + (t > 0 ? *(now - PianoRolls::keys + key) : 0);
        for (std::size_t row = 0; row < rows; ++row) of_row[row] += log_emission[(table * rows + row) * 2 + now[key]];
      }
      for (const std::int64_t row : flat.emits_as) emission.push_back(of_row[static_cast<std::size_t>(row)]);
    }
    const FlatPosterior one = flat_forward_backward(start, flat.transition, emission);
    result.log_likelihood += one.log_likelihood;
    for (std::size_t k = 0; k < one.posterior.size(); ++k) {
      result.steps_in_x[static_cast<std::size_t>(flat.x[k % states])] += one.posterior[k];
    }
  }
  return result;
}

/// Runs Plated, prints and checks the answers; returns the log-likelihood.
double report(const MusicModel& model, const PianoRolls& rolls, Checks& checks) {
  plated::PlanOptions observing{.observable = {"note"}};
  plated::RunOptions run{.evidence = {{"note", evidence_of(rolls, 0)}},
                         .lengths = {{"t", Integers({rolls.sequences()}, rolls.lengths)}}};
  if (model.graph.find("before")) {
    observing.observable.emplace_back("before");
    run.evidence.emplace("before", evidence_of(rolls, 1));
  }
  const double begin = seconds();
  const plated::Plan plan = plated::compile(model.graph, observing);
  const double compiled = seconds();
  const double log_likelihood = plan.run(model.factors, run)[0].item();
  const double valued = seconds();
  const plated::Marginals posterior =
      plated::marginals(plan, model.factors, run, {.variables = false, .sets = {{"x"}}});
  const double answered = seconds();

  const auto steps = static_cast<double>(rolls.steps());
  std::printf("%s: -log p = %.4f nats a step\n", model.name.c_str(), -log_likelihood / steps);
  std::printf("  planned in %.1f ms, value in %.0f ms, marginals in %.0f ms\n", 1e3 * (compiled - begin),
              1e3 * (valued - compiled), 1e3 * (answered - valued));

  // Axes: sequence, t, x; zeros past the end of a sequence.
  std::vector<double> in_x(static_cast<std::size_t>(model.x_states), 0.0);
  const std::vector<double> p = posterior.sets[0].values();
  for (std::size_t k = 0; k < p.size(); ++k) in_x[k % in_x.size()] += p[k];
  std::printf("  time in the states of x, %%:");
  for (const double expected : in_x) std::printf(" %.1f", 100 * expected / steps);
  std::printf("\n");

  const ByHand want = by_hand(model, rolls);
  double worst = 0;
  for (std::size_t k = 0; k < in_x.size(); ++k) worst = std::max(worst, std::abs(in_x[k] - want.steps_in_x[k]));
  checks.near("log-likelihood by a forward recursion", log_likelihood, want.log_likelihood,
              1e-9 * std::abs(want.log_likelihood));
  checks.that(worst < 1e-8 * steps, "time in each state by a forward-backward recursion");
  return log_likelihood;
}

}  // namespace

int main(int argc, char** argv) {
  Checks checks;
  PianoRolls train = made_up_piano_rolls(), test = train;
  const auto found = data_file("music/jsb_test_notes.npy");
  if (found) {
    const std::string folder = found->substr(0, found->rfind("jsb_test"));
    train = read_piano_rolls(folder + "jsb_train");
    test = read_piano_rolls(folder + "jsb_test");
  }
  if (found) {
    // One state: every note by itself. The data's own notes give this figure, so the reader and the units are right.
    MusicModel floor = hmm(false, test, note_frequencies(train, 1e-12), 1);
    std::vector<double> chance;
    for (const double p : note_frequencies(train, 1e-12)) chance.insert(chance.end(), {1 - p, p});
    floor.emission = chance;
    floor.factors.back() = logs({PianoRolls::keys, 1, 2}, chance);
    floor.name = "All sequences, one state, trained";
    const double nats = -report(floor, test, checks) / static_cast<double>(test.steps());
    checks.near("independent notes, nats a step as published", nats, 11.062, 5e-4);
    std::printf("\n");
  }

  test = test.first(argc > 1 ? std::atoll(argv[1]) : 20);
  std::printf("%lld sequences of up to %lld steps, %lld steps in all\n", static_cast<long long>(test.sequences()),
              static_cast<long long>(test.longest()), static_cast<long long>(test.steps()));
  const std::vector<double> frequency = note_frequencies(train, 1e-3);
  for (const bool autoregressive : {false, true}) {
    report(hmm(autoregressive, test, frequency, 16), test, checks);
    report(factorial_hmm(false, autoregressive, test, frequency, 4), test, checks);
    report(factorial_hmm(true, autoregressive, test, frequency, 4), test, checks);
    const double full = report(second_order_hmm(false, autoregressive, test, frequency, 8), test, checks);
    const double factored = report(second_order_hmm(true, autoregressive, test, frequency, 8), test, checks);
    checks.near("Raftery's factors and the full table", factored, full, 1e-9 * std::abs(full));
    std::printf("\n");
  }
  return checks.exit_code();
}
