// The hidden Markov models of [TVE] Table 1 and App. B as plated factor graphs, with random parameters.
//
// In every step of a sequence a hidden state is drawn given the state before, and 88 notes given the state. The state
// before the first step is 0. Autoregressive variants let a note also depend on itself in the step before.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <plated/plated.hpp>

#include "piano_rolls.hpp"

/// The same model as one flat chain, for a forward algorithm by hand: all hidden variables of a step as one state.
struct FlatChain {
  std::int64_t states = 0;
  std::vector<double> transition;      // [state, state], probabilities; the chain begins in state 0
  std::vector<std::int64_t> emits_as;  // [state]: its row of the emission table
  std::vector<std::int64_t> x;         // [state]: the value of variable x
};

struct MusicModel {
  std::string name;
  plated::FactorGraph graph;
  std::vector<plated::Tensor> factors;  // logarithms
  std::vector<double> emission;         // [key, before (if autoregressive), rows, note], probabilities
  FlatChain flat;
  std::int64_t x_states = 0;
};

/// Random tables, the same on every machine: the standard fixes the bits of mt19937, not those of its distributions.
class RandomTables {
 public:
  explicit RandomTables(std::uint32_t seed) : bits_(seed) {}

  double uniform() { return (static_cast<double>(bits_()) + 0.5) / 4294967296.0; }

  /// Distributions over `states`, one after another.
  std::vector<double> distributions(std::int64_t count, std::int64_t states) {
    std::vector<double> table;
    for (std::int64_t row = 0; row < count; ++row) {
      double sum = 0;
      for (std::int64_t k = 0; k < states; ++k) sum += table.emplace_back(-std::log(uniform()));
      for (auto p = table.end() - states; p != table.end(); ++p) *p /= sum;
    }
    return table;
  }

  /// Chances of notes to be off and on, [key, before?, rows, 2], scattered around their frequencies. A note that was on
  /// in the step before is likelier to be on again.
  std::vector<double> notes(const std::vector<double>& frequency, bool autoregressive, std::int64_t rows) {
    std::vector<double> table;
    for (const double p : frequency) {
      for (int before = 0; before < (autoregressive ? 2 : 1); ++before) {
        const double shift = !autoregressive ? 0 : before == 1 ? 1.2 : -0.1;
        for (std::int64_t row = 0; row < rows; ++row) {
          const double logit = std::log(p / (1 - p)) + shift + 2 * (uniform() - 0.5);
          table.push_back(1 / (1 + std::exp(logit)));
          table.push_back(1 / (1 + std::exp(-logit)));
        }
      }
    }
    return table;
  }

 private:
  std::mt19937 bits_;
};

inline plated::Tensor logs(std::vector<std::int64_t> shape, std::vector<double> weights) {
  for (double& w : weights) w = std::log(w);
  return plated::Tensor::of(std::move(shape), weights);
}

/// What the models share: sequences around the chain, notes inside of it, and the emission table.
class MusicModelBuilder {
 public:
  MusicModelBuilder(std::string name, bool autoregressive, const PianoRolls& rolls,
                    const std::vector<double>& frequency)
      : autoregressive_(autoregressive), frequency_(frequency), tables(7) {
    model.name = (autoregressive ? "ar" : "") + std::move(name);
    model.graph.plate("sequence", rolls.sequences());
    model.graph.chain("t", rolls.longest());
    model.graph.plate("key", PianoRolls::keys);
    model.graph.variable("note", 2);
    if (autoregressive) model.graph.variable("before", 2);
  }

  /// A hidden variable and the name of its value in the step before.
  void hidden(const char* before, const char* now, std::int64_t states) {
    for (const char* name : {before, now}) {
      if (!model.graph.find(name)) model.graph.variable(name, states);
    }
    model.graph.link("t", before, now);
  }

  /// A factor that is the same in every sequence and, unless it is about the beginning, in every step.
  void factor(const char* name, const std::vector<std::string>& dims, plated::Tensor table, bool beginning = false) {
    using Names = std::vector<std::string>;
    model.graph.factor(name, dims, {.tied = beginning ? Names{"sequence"} : Names{"sequence", "t"}});
    model.factors.push_back(std::move(table));
  }

  /// The hidden variables before the first step are 0.
  void begin(const std::vector<std::string>& dims, const std::vector<std::int64_t>& shape) {
    plated::Tensor table(plated::Dtype::float64, shape);
    auto* values = static_cast<double*>(table.mutable_data());
    for (std::int64_t k = 1; k < table.elements(); ++k) values[k] = -INFINITY;
    factor("start", dims, table, true);
  }

  /// The notes, given these variables.
  void notes(const std::vector<std::string>& given, const std::vector<std::int64_t>& sizes) {
    std::vector<std::string> dims{"key"};
    std::vector<std::int64_t> shape{PianoRolls::keys};
    std::int64_t rows = 1;
    if (autoregressive_) {
      dims.emplace_back("before");
      shape.push_back(2);
    }
    for (std::size_t k = 0; k < given.size(); ++k) {
      dims.push_back(given[k]);
      shape.push_back(sizes[k]);
      rows *= sizes[k];
    }
    dims.emplace_back("note");
    shape.push_back(2);
    model.emission = tables.notes(frequency_, autoregressive_, rows);
    factor("emission", dims, logs(shape, model.emission));
    model.graph.output({});
  }

 private:
  bool autoregressive_;
  const std::vector<double>& frequency_;

 public:
  RandomTables tables;
  MusicModel model;
};

/// p(x | old_x).
inline MusicModel hmm(bool autoregressive, const PianoRolls& rolls, const std::vector<double>& frequency,
                      std::int64_t k) {
  MusicModelBuilder b("HMM", autoregressive, rolls, frequency);
  b.hidden("old_x", "x", k);
  b.begin({"old_x"}, {k});
  const std::vector<double> transition = b.tables.distributions(k, k);
  b.factor("transition", {"old_x", "x"}, logs({k, k}, transition));
  b.notes({"x"}, {k});
  b.model.x_states = k;
  b.model.flat = {k, transition, {}, {}};
  for (std::int64_t s = 0; s < k; ++s) {
    b.model.flat.emits_as.push_back(s);
    b.model.flat.x.push_back(s);
  }
  return b.model;
}

/// p(w | old_w), and p(x | old_x), or p(x | old_x, w) if it is partially factorial.
inline MusicModel factorial_hmm(bool partially, bool autoregressive, const PianoRolls& rolls,
                                const std::vector<double>& frequency, std::int64_t k) {
  MusicModelBuilder b(partially ? "PFHMM" : "FHMM", autoregressive, rolls, frequency);
  b.hidden("old_w", "w", k);
  b.hidden("old_x", "x", k);
  b.begin({"old_w", "old_x"}, {k, k});
  const std::vector<double> of_w = b.tables.distributions(k, k);
  const std::vector<double> of_x = b.tables.distributions(partially ? k * k : k, k);
  b.factor("transition of w", {"old_w", "w"}, logs({k, k}, of_w));
  if (partially) {
    b.factor("transition of x", {"old_x", "w", "x"}, logs({k, k, k}, of_x));
  } else {
    b.factor("transition of x", {"old_x", "x"}, logs({k, k}, of_x));
  }
  b.notes({"w", "x"}, {k, k});
  b.model.x_states = k;
  FlatChain& flat = b.model.flat;
  flat.states = k * k;
  for (std::int64_t old = 0; old < k * k; ++old) {
    for (std::int64_t now = 0; now < k * k; ++now) {
      const std::int64_t old_w = old / k, old_x = old % k, w = now / k, x = now % k;
      const std::int64_t row = partially ? old_x * k + w : old_x;
      flat.transition.push_back(of_w[static_cast<std::size_t>(old_w * k + w)] *
                                of_x[static_cast<std::size_t>(row * k + x)]);
    }
    flat.emits_as.push_back(old);
    flat.x.push_back(old % k);
  }
  return b.model;
}

/// p(x | older_x, old_x): as one table, or after Raftery (1985) as a mixture of p(x | old_x) and p(x | older_x), each
/// by a matrix of its own. A variable `lag` says which of the two made the step, and each has a factor that is 1 under
/// the other lag. Both ways are given the same probabilities.
inline MusicModel second_order_hmm(bool raftery, bool autoregressive, const PianoRolls& rolls,
                                   const std::vector<double>& frequency, std::int64_t k) {
  MusicModelBuilder b(raftery ? "2HMM, Raftery" : "2HMM", autoregressive, rolls, frequency);
  b.hidden("older_x", "old_x", k);
  b.hidden("old_x", "x", k);
  // Outside of the chain, the first step's old_x must be distinguished from the last step's.
  b.begin({"older_x", plated::first("old_x")}, {k, k});
  const std::vector<double> by_old = b.tables.distributions(k, k), by_older = b.tables.distributions(k, k);
  const double weights[] = {0.7, 0.3};
  const auto chance = [&](const std::vector<double>& matrix, std::int64_t from, std::int64_t to) {
    return matrix[static_cast<std::size_t>(from * k + to)];
  };
  std::vector<double> full, of_old, of_older;
  for (std::int64_t older = 0; older < k; ++older) {
    for (std::int64_t old = 0; old < k; ++old) {
      for (std::int64_t x = 0; x < k; ++x) {
        full.push_back(weights[0] * chance(by_old, old, x) + weights[1] * chance(by_older, older, x));
      }
    }
  }
  of_old = by_old;
  of_old.insert(of_old.end(), by_old.size(), 1.0);  // lag 1 says nothing about old_x
  of_older.assign(by_older.size(), 1.0);
  of_older.insert(of_older.end(), by_older.begin(), by_older.end());
  if (raftery) {
    b.model.graph.variable("lag", 2);
    b.factor("lag", {"lag"}, logs({2}, {weights[0], weights[1]}));
    b.factor("from old_x", {"lag", "old_x", "x"}, logs({2, k, k}, of_old));
    b.factor("from older_x", {"lag", "older_x", "x"}, logs({2, k, k}, of_older));
  } else {
    b.factor("transition", {"older_x", "old_x", "x"}, logs({k, k, k}, full));
  }
  b.notes({"x"}, {k});
  b.model.x_states = k;
  FlatChain& flat = b.model.flat;  // its states are pairs (old_x, x)
  flat.states = k * k;
  flat.transition.assign(static_cast<std::size_t>(k * k * k * k), 0.0);
  for (std::int64_t older = 0; older < k; ++older) {
    for (std::int64_t old = 0; old < k; ++old) {
      for (std::int64_t x = 0; x < k; ++x) {
        flat.transition[static_cast<std::size_t>((older * k + old) * k * k + old * k + x)] =
            full[static_cast<std::size_t>((older * k + old) * k + x)];
      }
      flat.emits_as.push_back(old);
      flat.x.push_back(old);
    }
  }
  return b.model;
}
