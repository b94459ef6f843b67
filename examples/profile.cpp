// A left-to-right profile model: sequences aligned to a motif, by the best path and by posterior probabilities.
//
// The states of a letter are M1 … ML, where it is the motif's letter of that place, and I0 … IL, where it was inserted
// behind one. Places that a sequence skips have no letter, and so no slice: the transition from one place to a later
// one has the chance of all that is deleted between. Nothing ever leads back, so most of the transitions are −inf. The
// best path is compared with a Viterbi recursion and the posterior with forward and backward ones, both written by
// hand.
#include <plated/plated.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "check.hpp"
#include "flat_forward_backward.hpp"

using plated::Integers;
using plated::Tensor;

namespace {

const std::string motif = "GATTACAGGT";
constexpr int places = 10;
constexpr int states = 2 * places + 1;  // M1 … ML, then I0 … IL

const std::vector<std::string> sequences = {"GATTACAGGT", "GATACAGGT", "GATTACCCAGGT", "TTAGAGGT", "GACTACAGG", "AC"};

bool is_match(int state) { return state < places; }
/// The motif's place that a state belongs to, from 1; 0 is before the first.
int place_of(int state) { return is_match(state) ? state + 1 : state - places; }

// Chances of what comes next at a place: an insertion, a deletion, a further insertion.
constexpr double inserts = 0.05, deletes = 0.08, inserts_more = 0.4;

/// From a state to another, or to the end (place `places` + 1), by way of deleted places.
double chance(int from, int to_place, bool to_match) {
  const int at = place_of(from);
  const double insertion = is_match(from) ? inserts : inserts_more;
  if (!to_match) return to_place == at ? insertion : 0;  // insertions behind this place
  if (to_place <= at) return 0;
  double p = 1 - insertion;
  for (int skipped = at + 1; skipped < to_place; ++skipped) p *= deletes;
  return to_place <= places ? p * (1 - deletes) : p;
}

struct Tables {
  std::vector<double> start = std::vector<double>(states, 0.0);  // [state]: a sequence begins behind place 0
  std::vector<double> transition;                                // [state, state]
  std::vector<double> end;                                       // [state]

  Tables() {
    start[places] = 1;  // as if in I0
    for (int from = 0; from < states; ++from) {
      for (int to = 0; to < states; ++to) transition.push_back(chance(from, place_of(to), is_match(to)));
      end.push_back(chance(from, places + 1, true));
    }
  }
};

double letter_chance(char letter, int state) {
  if (!is_match(state)) return 0.25;
  return letter == motif[static_cast<std::size_t>(state)] ? 0.91 : 0.03;
}

Tensor logs(std::vector<std::int64_t> shape, std::vector<double> weights) {
  for (double& w : weights) w = std::log(w);
  return Tensor::of(std::move(shape), weights);
}

/// The best score by hand.
double viterbi(const Tables& tables, const std::string& sequence) {
  std::vector<double> best;
  for (const double p : tables.start) best.push_back(std::log(p));
  for (const char letter : sequence) {
    std::vector<double> next(states, -INFINITY);
    for (std::size_t from = 0; from < states; ++from) {
      for (std::size_t to = 0; to < states; ++to) {
        next[to] = std::max(next[to], best[from] + std::log(tables.transition[from * states + to]) +
                                          std::log(letter_chance(letter, static_cast<int>(to))));
      }
    }
    best = next;
  }
  double score = -INFINITY;
  for (std::size_t k = 0; k < states; ++k) score = std::max(score, best[k] + std::log(tables.end[k]));
  return score;
}

/// The sequence under the motif: capitals where it matches a place, dashes for deleted places, insertions in brackets.
std::string aligned(const std::string& sequence, const Integers& path, std::int64_t row) {
  std::string text;
  int at = 0;
  bool inserting = false;
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    const auto state = static_cast<int>(path.at({row, static_cast<std::int64_t>(t)}));
    if (inserting && is_match(state)) text += ']';
    if (!inserting && !is_match(state)) text += '[';
    inserting = !is_match(state);
    if (is_match(state)) text.append(static_cast<std::size_t>(place_of(state) - at - 1), '-');
    text += sequence[t];
    at = place_of(state);
  }
  if (inserting) text += ']';
  return text.append(static_cast<std::size_t>(places - at), '-');
}

/// The posterior by hand: the end's weights go to the last letter.
FlatPosterior posterior_by_hand(const Tables& tables, const std::string& sequence) {
  std::vector<double> emission;
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    for (int k = 0; k < states; ++k) {
      emission.push_back(std::log(letter_chance(sequence[t], k)));
      if (t + 1 == sequence.size()) emission.back() += std::log(tables.end[static_cast<std::size_t>(k)]);
    }
  }
  return flat_forward_backward(tables.start, tables.transition, emission);
}

}  // namespace

int main() {
  const Tables tables;
  const auto count = std::ssize(sequences);
  std::int64_t longest = 0;
  Integers lengths({count});
  for (std::size_t n = 0; n < sequences.size(); ++n) {
    lengths.values[n] = std::ssize(sequences[n]);
    longest = std::max(longest, lengths.values[n]);
  }
  std::vector<double> seen;  // sequence t state
  for (const std::string& sequence : sequences) {
    for (std::size_t t = 0; t < static_cast<std::size_t>(longest); ++t) {
      for (int k = 0; k < states; ++k) seen.push_back(t < sequence.size() ? letter_chance(sequence[t], k) : 0);
    }
  }
  const std::vector<Tensor> factors = {logs({states}, tables.start), logs({states, states}, tables.transition),
                                       logs({count, longest, states}, seen), logs({states}, tables.end)};
  const char* const equation = "before, (t) before state, sequence t state, state ->";
  const plated::EinsumOptions options{
      .batch = "sequence", .chains = {{"t", {"before->state"}}}, .lengths = {{"t", lengths}}};
  const plated::MapResult best = plated::map(equation, factors, options);
  const plated::Marginals posterior = plated::marginals(equation, factors, options);
  const Tensor& of_state = posterior.variables.at("state");

  Checks checks;
  std::printf("motif     %s\n", motif.c_str());
  for (std::int64_t n = 0; n < count; ++n) {
    const std::string& sequence = sequences[static_cast<std::size_t>(n)];
    const Integers& path = best.assignment.at("state");
    const double log_p = posterior.log_partition.at({n});
    std::printf("sequence  %-15s log p = %.3f, this alignment %.1f %% of it; each letter's place:",
                aligned(sequence, path, n).c_str(), log_p, 100 * std::exp(best.score.at({n}) - log_p));
    bool forwards = true;
    double worst = 0;
    const FlatPosterior want = posterior_by_hand(tables, sequence);
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      const auto slice = static_cast<std::int64_t>(t);
      const auto state = static_cast<int>(path.at({n, slice}));
      std::printf(" %.2f", of_state.at({n, slice, state}));
      if (t > 0) forwards = forwards && place_of(state) >= place_of(static_cast<int>(path.at({n, slice - 1})));
      for (int k = 0; k < states; ++k) {
        const double difference =
            std::abs(of_state.at({n, slice, k}) - want.posterior[t * states + static_cast<std::size_t>(k)]);
        worst = difference <= worst ? worst : difference;  // NaN becomes the worst
      }
    }
    std::printf("\n");
    checks.near("the best alignment by Viterbi's recursion", best.score.at({n}), viterbi(tables, sequence), 1e-12);
    checks.near("log p by a forward recursion", log_p, want.log_likelihood, 1e-12);
    checks.that(worst < 1e-12, "the posterior of each letter's state by recursions");
    checks.that(forwards, "the path never leads back");
  }
  return checks.exit_code();
}
