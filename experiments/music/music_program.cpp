// Writes the music models as programs: hidden states along a chain, and the scores of their notes.
#include "music/music_program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "music/scores.hpp"

namespace experiments {
namespace {

using plated::torch::Categorical;
using plated::torch::Plate;
using plated::torch::Program;
using plated::torch::Value;
using Values = std::vector<Value>;

constexpr std::int64_t keys = PianoRolls::keys, hidden_units = 50;

/// Notes whose log-likelihoods are computed already, for all steps and states at once.
class Scored : public plated::torch::Distribution {
 public:
  explicit Scored(Value scores) : scores_(std::move(scores)) {}
  [[nodiscard]] std::string name() const override { return "Notes"; }
  [[nodiscard]] Value log_prob(const Value& /*notes*/) const override { return scores_; }

 private:
  Value scores_;
};

at::Tensor table_of(const plated::Model& model, const std::string& name) {
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    if (model.graph.factors()[f].name != name) continue;
    const std::vector<double> values = model.factors[f].values();
    return at::tensor(values, at::kDouble).reshape(model.factors[f].shape());
  }
  throw std::runtime_error("there is no factor " + name);
}

/// Sequences from the longest to the shortest, cut where they get shorter than two thirds of the first.
std::vector<std::vector<std::int64_t>> of_similar_length(const PianoRolls& rolls, std::vector<std::int64_t> sequences) {
  const auto length = [&](std::int64_t n) { return rolls.lengths[static_cast<std::size_t>(n)]; };
  std::ranges::stable_sort(sequences, std::greater<>(), length);
  std::vector<std::vector<std::int64_t>> groups;
  for (const std::int64_t n : sequences) {
    if (groups.empty() || 3 * length(n) < 2 * length(groups.back().front())) groups.emplace_back();
    groups.back().push_back(n);
  }
  return groups;
}

bool is_factorial(Structure structure) { return structure == Structure::factorial || structure == Structure::partial; }

}  // namespace

NumberedSteps::NumberedSteps(const PianoRolls& rolls) : rolls_(rolls) {
  std::unordered_map<std::string_view, std::int64_t> numbers;
  static const std::array<std::uint8_t, keys> silence{};
  const auto number_of = [&](const std::uint8_t* row) {
    const std::string_view bytes(reinterpret_cast<const char*>(row), keys);
    const auto [found, is_new] = numbers.emplace(bytes, std::ssize(numbers));
    if (is_new) distinct_.push_back(row);
    return found->second;
  };
  const std::int64_t of_silence = number_of(silence.data());  // 0
  const std::uint8_t* row = rolls.notes.data();
  for (const std::int64_t length : rolls.lengths) {
    begins_.push_back(std::ssize(number_));
    for (std::int64_t t = 0; t < length; ++t, row += keys) {
      before_.push_back(t == 0 ? of_silence : number_.back());
      number_.push_back(number_of(row));
    }
  }
}

at::Tensor NumberedSteps::rows(const std::vector<std::int64_t>& numbers, at::ScalarType type) const {
  at::Tensor bytes = at::empty({std::ssize(numbers), keys}, at::kByte);
  auto* out = bytes.data_ptr<std::uint8_t>();
  for (const std::int64_t number : numbers) {
    out = std::copy_n(distinct_[static_cast<std::size_t>(number)], keys, out);
  }
  return bytes.to(type);
}

NoteBatch::NoteBatch(const NumberedSteps& all, const std::vector<std::int64_t>& sequences, bool blind,
                     at::ScalarType type) {
  std::vector<std::int64_t> contexts, notes_of, context_of;
  std::unordered_map<std::int64_t, std::int64_t> rows, pairs;
  const auto pair_of = [&](std::int64_t step) {
    const std::int64_t now = all.notes(step), old = blind ? 0 : all.before(step);
    const auto [pair, new_pair] = pairs.emplace((old << 32) + now, std::ssize(pairs));
    if (new_pair) {
      const auto [row, new_row] = rows.emplace(old, std::ssize(rows));
      if (new_row) contexts.push_back(old);
      notes_of.push_back(now);
      context_of.push_back(row->second);
    }
    return pair->second;
  };
  for (const std::vector<std::int64_t>& group : of_similar_length(all.rolls(), sequences)) {
    std::vector<std::int64_t> lengths;
    for (const std::int64_t n : group) lengths.push_back(all.rolls().lengths[static_cast<std::size_t>(n)]);
    const std::int64_t longest = lengths.front();
    std::vector<std::int64_t> where(group.size() * static_cast<std::size_t>(longest), 0);
    auto row = where.begin();
    for (std::size_t k = 0; k < group.size(); ++k, row += longest) {
      steps += lengths[k];
      for (std::int64_t t = 0; t < lengths[k]; ++t) row[t] = pair_of(all.begin(group[k]) + t);
    }
    groups.push_back({at::tensor(where, at::kLong), at::tensor(lengths, at::kLong), longest});
  }
  before = all.rows(contexts, type);
  notes = all.rows(notes_of, type);
  context = at::tensor(context_of, at::kLong);
  const at::Tensor places = notes.nonzero();
  of = places.select(1, 0).contiguous();
  on = context.index_select(0, of) * keys + places.select(1, 1);
}

MusicParameters::MusicParameters(const MusicModelName& name, std::int64_t states, std::int64_t channels,
                                 const PianoRolls& train, std::uint32_t seed)
    : name_(name), states_(states_of_variable(name.structure, states)) {
  torch::manual_seed(seed);
  const plated::Model start = table_model(name, states, train, seed);
  if (is_factorial(name.structure)) {
    real("transition of w", table_of(start, "transition of w"));
    real("transition of x", table_of(start, "transition of x"));
  } else {
    real("transition", table_of(start, "transition"));  // of order 2: [lag, state before, state]
    if (name.structure == Structure::second_order) unit_interval("lambda", at::scalar_tensor(0.5, at::kDouble));
  }
  if (name.neural) {
    add_network(channels, train);
    return;
  }
  at::Tensor emission = table_of(start, "emission");
  emission = emission.select(-1, 1) - emission.select(-1, 0);  // logits: [88, (2), states…]
  const std::int64_t rows = is_factorial(name.structure) ? states_ * states_ : states_;
  real("emission", name.autoregressive ? emission.reshape({keys, 2, rows}).transpose(0, 1).contiguous()
                                       : emission.reshape({keys, rows}));
}

void MusicParameters::add_network(std::int64_t channels, const PianoRolls& train) {
  // Uniform, by the number of inputs, as libtorch starts its layers, but for two things, without which the first steps
  // put hidden units out for good: silence convolves to nothing, and each note begins as frequent as it is.
  const auto uniform = [](std::vector<std::int64_t> shape, std::int64_t inputs) {
    return (2 * at::rand(shape, at::kFloat) - 1) / std::sqrt(static_cast<double>(inputs));
  };
  real("convolution", uniform({channels, 1, 3}, 3).abs());
  real("convolution bias", at::zeros({channels}, at::kFloat));
  real("of notes", uniform({channels * keys, hidden_units}, channels * keys));
  real("hidden bias", uniform({hidden_units}, channels * keys));
  real("of x", uniform({states_, hidden_units}, states_));
  if (is_factorial(name_.structure)) real("of w", uniform({states_, hidden_units}, states_));
  real("output", uniform({hidden_units, keys}, hidden_units));
  real("output bias", at::tensor(note_frequencies(train, 1e-3), at::kDouble).logit().to(at::kFloat));
}

at::Tensor MusicParameters::scores(const NoteBatch& batch, bool chunked) const {
  const Parameters& p = *this;
  if (!name_.neural) return table_scores(p["emission"], batch);
  const at::Tensor channels =
      at::conv1d(batch.before.unsqueeze(1), p["convolution"], p["convolution bias"], 1, 1).relu().flatten(1);
  const at::Tensor base = at::addmm(p["hidden bias"], channels, p["of notes"]);
  at::Tensor offsets = p["of x"];
  if (is_factorial(name_.structure)) offsets = (p["of w"].unsqueeze(1) + offsets).flatten(0, 1);
  if (!chunked) {
    const at::Tensor hidden = (base.index_select(0, batch.context).unsqueeze(1) + offsets).relu();
    const at::Tensor logits = at::matmul(hidden, p["output"]) + p["output bias"];
    return (batch.notes.unsqueeze(1) * logits - at::softplus(logits)).sum(2).to(at::kDouble);
  }
  return NetworkScores::apply(base, offsets, p["output"], p["output bias"], batch.context, batch.on, batch.of)
      .to(at::kDouble);
}

at::Tensor MusicParameters::log_likelihood(const NoteBatch& batch, const plated::RunOptions& options) const {
  const at::Tensor of_pairs = scores(batch);
  at::Tensor sum = at::zeros({}, at::kDouble);
  for (const NoteBatch::Group& group : batch.groups) sum = sum + log_likelihood(group, of_pairs, options);
  return sum;
}

at::Tensor MusicParameters::log_likelihood(const NoteBatch::Group& group, const at::Tensor& of_pairs,
                                           const plated::RunOptions& options) const {
  const Parameters& p = *this;
  const std::int64_t sequences = group.lengths.size(0);
  const at::Tensor room = of_pairs.index_select(0, group.pair).reshape({sequences, group.longest, of_pairs.size(1)});
  const at::Tensor seen = at::zeros({sequences, group.longest}, at::kDouble);  // what was seen is in the scores

  Program model;
  const Plate n = model.plate("sequence", sequences);
  const auto scope = model.within({n});
  const Plate t = model.chain("t", group.longest, {.lengths = {Value(group.lengths, {n})}});
  at::Tensor zero = at::zeros({states_}, at::kDouble);
  zero[0] = 1;  // before the first step
  if (is_factorial(name_.structure)) {
    const Value w0 = model.sample("w0", Categorical(zero)), x0 = model.sample("x0", Categorical(zero));
    model.markov(t, {w0, x0}, [&](const Values& before) {
      const Value w = model.sample("w", Categorical::logits(Value(p["transition of w"])[before[0]]));
      const Value moves(p["transition of x"]);
      const Value x = model.sample(
          "x", Categorical::logits(name_.structure == Structure::partial ? moves[{before[1], w}] : moves[before[1]]));
      const Value of_step(room.reshape({sequences, group.longest, states_, states_}), {n, t});
      model.observe("notes", Scored(of_step[{w, x}]), seen);
      return Values{w, x};
    });
  } else if (name_.structure == Structure::second_order) {
    const Value a = model.sample("a", Categorical(zero)), b = model.sample("b", Categorical(zero));
    const at::Tensor matrices = p["transition"].softmax(-1), lambda = p["lambda"];
    // [older, old, x]
    const at::Tensor mixed = lambda * matrices[0].unsqueeze(0) + (1 - lambda) * matrices[1].unsqueeze(1);
    model.markov(t, {a, b}, [&](const Values& before) {
      const Value x = model.sample("x", Categorical(Value(mixed)[{before[0], before[1]}]));
      model.observe("notes", Scored(Value(room, {n, t})[x]), seen);
      return Values{before[1], x};
    });
  } else {
    const Value x0 = model.sample("x0", Categorical(zero));
    model.markov(t, {x0}, [&](const Values& before) {
      const Value x = model.sample("x", Categorical::logits(Value(p["transition"])[before[0]]));
      model.observe("notes", Scored(Value(room, {n, t})[x]), seen);
      return Values{x};
    });
  }
  return model.log_likelihood(options);
}

}  // namespace experiments
