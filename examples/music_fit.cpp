// Hidden Markov models of polyphonic music, learnt by EM: the HMM and the arHMM of [TVE] Table 1.
//
//   music_fit [jsb|piano|nottingham]... [states]...
//
// For each set of piano rolls and number of hidden states both models are fitted to the training set from one random
// start, 50 iterations, and scored on the test set, in nats for each step. Without arguments: the JSB chorales, 9
// states. The figures that the same EM by hand reaches are printed beside and, with 50 iterations, checked. Where it is
// comes to standard error every ten seconds.
#include <plated/plated.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "check.hpp"
#include "data_folder.hpp"
#include "piano_rolls.hpp"

using plated::Integers;
using plated::Tensor;

namespace {

constexpr std::int64_t iterations = 50;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A state in each step of each sequence, and notes given the state and, if autoregressive, themselves a step before.
/// No factor has numbers: all start from random ones.
plated::Model music_model(bool autoregressive, std::int64_t states) {
  plated::FactorGraph graph;
  graph.plate("sequence", 1);
  graph.plate("key", PianoRolls::keys);
  graph.chain("t", 1);
  graph.variable("old_x", states, {"sequence", "t"});
  graph.variable("x", states, {"sequence", "t"});
  graph.variable("note", 2, {"sequence", "key", "t"});
  if (autoregressive) graph.variable("before", 2, {"sequence", "key", "t"});
  graph.link("t", "old_x", "x");
  graph.factor("start", {"^old_x"}, {.tied = {"sequence"}, .distribution_of = "^old_x"});
  graph.factor("transition", {"old_x", "x"}, {.tied = {"sequence", "t"}, .distribution_of = "x"});
  std::vector<std::string> dims{"key", "x", "note"};
  Tensor::Shape shape{PianoRolls::keys, states, 2};
  if (autoregressive) {
    dims.insert(dims.begin() + 1, "before");
    shape.insert(shape.begin() + 1, 2);
  }
  graph.factor("emission", dims, {.tied = {"sequence", "t"}, .distribution_of = "note"});
  Tensor prior(plated::Dtype::float64, shape);  // a note is off nine times of ten
  for (std::int64_t k = 0; k < prior.elements(); ++k) prior.data<double>()[k] = k % 2 == 0 ? 0.9 : 0.1;
  plated::ModelOptions options;
  options.learning = {{"start", {.learn = true, .prior = Tensor::scalar(0.1)}},
                      {"transition", {.learn = true, .prior = Tensor::scalar(0.1)}},
                      {"emission", {.learn = true, .prior = prior}}};
  return plated::make_model(graph, {}, options);
}

plated::Data data_of(const PianoRolls& rolls, bool autoregressive) {
  plated::Data data{.states = {{"note", evidence_of(rolls, 0)}},
                    .lengths = {{"t", Integers({rolls.sequences()}, rolls.lengths)}}};
  if (autoregressive) data.states.emplace("before", evidence_of(rolls, 1));
  return data;
}

/// Test scores of EM by hand: one random start, 50 iterations (../shared/data/README.md).
double by_hand(const std::string& set, bool autoregressive, std::int64_t states) {
  static const std::map<std::int64_t, std::size_t> places{{9, 0}, {16, 1}, {25, 2}, {36, 3}};
  static const std::map<std::string, std::vector<double>> scores{
      {"jsb", {8.82, 8.19, 7.79, 7.51}},        {"ar jsb", {8.32, 7.81, 7.51, 7.21}},
      {"piano", {9.85, 9.53, 9.31, 9.15}},      {"ar piano", {7.39, 7.24, 7.17, 7.12}},
      {"nottingham", {5.16, 4.44, 4.06, 3.79}}, {"ar nottingham", {3.51, 3.24, 2.98, 2.77}}};
  const auto found = scores.find((autoregressive ? "ar " : "") + set);
  const auto place = places.find(states);
  return found == scores.end() || place == places.end() ? 0 : found->second[place->second];
}

/// Tells how far a fit has come, every ten seconds.
class Told {
 public:
  void operator()(const plated::FitProgress& progress) {
    if (seconds() < next_) return;
    next_ = seconds() + 10;
    std::fprintf(stderr, "  iteration %lld, objective %.2f\n", static_cast<long long>(progress.iteration),
                 progress.objective);
  }

 private:
  double next_ = seconds() + 10;
};

void learn(const std::string& set, const PianoRolls& train, const PianoRolls& test, std::int64_t states,
           Checks& checks) {
  for (const bool autoregressive : {false, true}) {
    const double begin = seconds();
    plated::FitOptions options;
    options.iterations = iterations;
    options.progress = Told();
    const plated::Fit fit = plated::fit(music_model(autoregressive, states), data_of(train, autoregressive), options);
    const double spent = seconds() - begin;
    const double nats =
        -plated::evaluate(fit.model, data_of(test, autoregressive)).log_likelihood / static_cast<double>(test.steps());
    const double wanted = by_hand(set, autoregressive, states);
    std::printf("%s, %s, %lld states: train %.2f, test %.2f nats a step", set.c_str(), autoregressive ? "arHMM" : "HMM",
                static_cast<long long>(states), -fit.log_likelihood / static_cast<double>(train.steps()), nats);
    if (wanted > 0) std::printf(" (by hand %.2f)", wanted);
    std::printf(", %lld iterations in %.1f s\n", static_cast<long long>(fit.restarts[0].iterations), spent);
    checks.that(fit.history.back() > fit.history.front(), "the objective has grown");
    // Starts end in different optima: within two hundredths.
    if (wanted > 0) checks.that(nats < 1.02 * wanted, "as good as by hand");
    std::fflush(stdout);  // the next fit may take minutes
  }
}

int run(int argc, char** argv) {
  std::vector<std::string> sets;
  std::vector<std::int64_t> numbers;
  for (int k = 1; k < argc; ++k) {
    const std::int64_t states = std::atoll(argv[k]);
    if (states > 0) {
      numbers.push_back(states);
    } else {
      sets.emplace_back(argv[k]);
    }
  }
  if (sets.empty()) sets = {"jsb"};
  if (numbers.empty()) numbers = {9};
  Checks checks;
  for (const std::string& set : sets) {
    const auto found = data_file("music/" + set + "_train_notes.npy");
    const PianoRolls none = made_up_piano_rolls();
    const std::string stem = found ? found->substr(0, found->rfind("_train")) : "";
    const PianoRolls train = found ? read_piano_rolls(stem + "_train") : none;
    const PianoRolls test = found ? read_piano_rolls(stem + "_test") : none;
    for (const std::int64_t states : numbers) learn(found ? set : "made up", train, test, states, checks);
  }
  return checks.exit_code();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // memory that cannot be had, too
    std::fprintf(stderr, "music_fit: %s\n", error.what());
    return 1;
  }
}
