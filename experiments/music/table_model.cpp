// Builds the graphs of the music models, their pseudo-counts and their random starts.
#include "music/table_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>

#include "music_models.hpp"

namespace experiments {
namespace {

using plated::Tensor;
using Names = std::vector<std::string>;

/// A graph with its tables, in logarithms.
class Builder {
 public:
  explicit Builder(std::uint32_t seed) : random(seed) {
    graph.plate("sequence", 1);
    graph.plate("key", PianoRolls::keys);
    graph.chain("t", 1);
  }

  void variable(const std::string& name, std::int64_t states) { graph.variable(name, states, {"sequence", "t"}); }

  /// The first step's variable is 0.
  void begins_at_zero(const std::string& variable, std::int64_t states) {
    std::vector<double> table(static_cast<std::size_t>(states), 0.0);
    table[0] = 1;
    factor("start of " + variable, {variable}, variable, {states}, table, true);
  }

  /// The last of `dims` given the others, from a random start.
  void transition(const std::string& name, const Names& dims, const Tensor::Shape& shape) {
    std::int64_t rows = 1;
    for (const std::int64_t size : shape) rows *= size;
    factor(name, dims, dims.back(), shape, random.distributions(rows / shape.back(), shape.back()));
    learning.emplace(name, plated::Learning{.learn = true, .prior = Tensor::scalar(0.1)});
  }

  void factor(const std::string& name, const Names& dims, const std::string& child, const Tensor::Shape& shape,
              const std::vector<double>& table, bool outside = false) {
    graph.factor(name, dims, {.tied = outside ? Names{"sequence"} : Names{"sequence", "t"}, .distribution_of = child});
    tables.emplace(name, logs(shape, table));
  }

  void notes(bool autoregressive, const Names& given, std::int64_t states, const PianoRolls& train) {
    Names dims{"key"};
    Tensor::Shape shape{PianoRolls::keys};
    graph.variable("note", 2, {"sequence", "key", "t"});
    if (autoregressive) {
      graph.variable("before", 2, {"sequence", "key", "t"});
      dims.emplace_back("before");
      shape.push_back(2);
    }
    std::int64_t rows = 1;
    for (const std::string& parent : given) {
      dims.push_back(parent);
      shape.push_back(states);
      rows *= states;
    }
    dims.emplace_back("note");
    shape.push_back(2);
    factor("emission", dims, "note", shape, random.notes(note_frequencies(train, 1e-3), autoregressive, rows));
    Tensor prior(plated::Dtype::float64, shape);  // a note is off nine times of ten
    for (std::int64_t k = 0; k < prior.elements(); ++k) prior.data<double>()[k] = k % 2 == 0 ? 0.9 : 0.1;
    learning.emplace("emission", plated::Learning{.learn = true, .prior = prior});
  }

  plated::FactorGraph graph;
  std::map<std::string, Tensor> tables;
  std::map<std::string, plated::Learning, std::less<>> learning;
  RandomTables random;
};

/// A mixture of two matrices ([TVE] after Raftery, 1985), for EM: `lag` says which of the two states before the step
/// goes by, `source` is a copy of that state, and x is drawn by the matrix of the lag. P(lag) is (λ, 1 − λ).
void second_order(Builder& b, std::int64_t k) {
  for (const char* name : {"older_x", "old_x", "x", "source"}) b.variable(name, k);
  b.variable("lag", 2);
  b.graph.link("t", "older_x", "old_x");
  b.graph.link("t", "old_x", "x");
  b.begins_at_zero("^older_x", k);
  b.begins_at_zero("^old_x", k);
  b.factor("lags", {"lag"}, "lag", {2}, {0.5, 0.5});
  b.learning.emplace("lags", plated::Learning{.learn = true});
  std::vector<double> copies;
  for (int lag = 0; lag < 2; ++lag) {
    for (std::int64_t older = 0; older < k; ++older) {
      for (std::int64_t old = 0; old < k; ++old) {
        for (std::int64_t s = 0; s < k; ++s) copies.push_back(s == (lag == 0 ? old : older) ? 1 : 0);
      }
    }
  }
  b.factor("source", {"lag", "older_x", "old_x", "source"}, "source", {2, k, k, k}, copies);
  b.transition("transition", {"lag", "source", "x"}, {2, k, k});
}

void factorial(Builder& b, std::int64_t k, bool partial) {
  for (const char* name : {"old_w", "w", "old_x", "x"}) b.variable(name, k);
  b.graph.link("t", "old_w", "w");
  b.graph.link("t", "old_x", "x");
  b.begins_at_zero("^old_w", k);
  b.begins_at_zero("^old_x", k);
  b.transition("transition of w", {"old_w", "w"}, {k, k});
  if (partial) {
    b.transition("transition of x", {"old_x", "w", "x"}, {k, k, k});
  } else {
    b.transition("transition of x", {"old_x", "x"}, {k, k});
  }
}

/// As evidence_of(), in bytes and with the notes of a step side by side: most of a set is what is past the ends.
plated::IntegerView seen_notes(const PianoRolls& rolls, std::int64_t delay) {
  constexpr std::int64_t keys = PianoRolls::keys;
  const std::int64_t longest = rolls.longest();
  const auto seen =
      std::make_shared<std::vector<std::int8_t>>(static_cast<std::size_t>(rolls.sequences() * longest * keys), -1);
  const std::uint8_t* row = rolls.notes.data();
  std::int8_t* out = seen->data();
  for (const std::int64_t length : rolls.lengths) {
    std::fill_n(out, delay * keys, 0);
    std::copy_n(row, (length - delay) * keys, out + delay * keys);
    row += length * keys;
    out += longest * keys;
  }
  return plated::IntegerView::view(seen->data(), {rolls.sequences(), keys, longest}, {longest * keys, 1, keys})
      .keeping(seen);
}

void hidden_markov(Builder& b, std::int64_t k) {
  for (const char* name : {"old_x", "x"}) b.variable(name, k);
  b.graph.link("t", "old_x", "x");
  b.begins_at_zero("^old_x", k);
  b.transition("transition", {"old_x", "x"}, {k, k});
}

}  // namespace

MusicModelName::MusicModelName(const std::string& name) {
  static const std::map<std::string, Structure> structures{{"HMM", Structure::hmm},
                                                           {"FHMM", Structure::factorial},
                                                           {"PFHMM", Structure::partial},
                                                           {"2HMM", Structure::second_order}};
  autoregressive = name.starts_with("ar");
  neural = name.starts_with("nn");
  const auto found = structures.find(name.substr(autoregressive || neural ? 2 : 0));
  if (found == structures.end()) throw std::runtime_error("there is no model " + name);
  structure = found->second;
}

std::int64_t states_of_variable(Structure structure, std::int64_t states) {
  if (structure != Structure::factorial && structure != Structure::partial) return states;
  const auto root = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(states))));
  if (root * root != states) throw std::runtime_error("the states of a factorial model are a square");
  return root;
}

plated::Model table_model(const MusicModelName& name, std::int64_t states, const PianoRolls& train,
                          std::uint32_t seed) {
  Builder b(seed);
  const std::int64_t k = states_of_variable(name.structure, states);
  switch (name.structure) {
    case Structure::hmm:
      hidden_markov(b, k);
      break;
    case Structure::factorial:
      factorial(b, k, false);
      break;
    case Structure::partial:
      factorial(b, k, true);
      break;
    case Structure::second_order:
      second_order(b, k);
      break;
  }
  const bool two = name.structure == Structure::factorial || name.structure == Structure::partial;
  b.notes(name.autoregressive, two ? Names{"w", "x"} : Names{"x"}, k, train);
  plated::ModelOptions options;
  options.learning = b.learning;
  return plated::make_model(b.graph, b.tables, options);
}

plated::Data table_data(const MusicModelName& name, const PianoRolls& rolls) {
  plated::Data data{.states = {{"note", seen_notes(rolls, 0)}},
                    .lengths = {{"t", plated::Integers({rolls.sequences()}, rolls.lengths)}}};
  if (name.autoregressive) data.states.emplace("before", seen_notes(rolls, 1));
  return data;
}

}  // namespace experiments
