// Data of unequal lengths in blocks of about equal ones, against all of them at once.
#include "learn/blocks.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/cut.hpp"
#include "learn/with_data.hpp"
#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "unit/graph/message_of.hpp"
#include "unit/learn/ragged_sequences.hpp"

namespace plated::test {
namespace {

bool is_cut(const Model& model, const Data& data) {
  return learn::cut_by_length(learn::with_data(model, data), data.weights).has_value();
}

void expect_same_fit(const Ragged& ragged, FitOptions options = {.iterations = 6, .tolerance = 0}) {
  const Model model = ragged.model(), whole = ragged.uncut();
  ASSERT_TRUE(is_cut(model, ragged.data));
  ASSERT_FALSE(is_cut(whole, ragged.data));
  const Fit cut = fit(model, ragged.data, options);
  const Fit at_once = fit(whole, ragged.data, options);
  expect_near(cut.history, at_once.history, 1e-12, "the objective");
  EXPECT_EQ(cut.observations, at_once.observations);
  EXPECT_EQ(cut.parameters, at_once.parameters);
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    expect_near(cut.model.factors[f].values(), at_once.model.factors[f].values(), 1e-9, model.graph.factors()[f].name);
  }
  for (const auto& [name, likelihood] : cut.model.likelihoods) {
    for (const auto& [parameter, numbers] : likelihood.parameters) {
      expect_near(numbers.values(), at_once.model.likelihoods.at(name).parameters.at(parameter).values(), 1e-8, name);
    }
  }
  for (const auto& [name, errors] : cut.standard_errors) {
    expect_near(errors.values(), at_once.standard_errors.at(name).values(), 1e-6, "the errors of " + name);
  }
  for (const auto& [name, errors] : cut.likelihood_errors) {
    for (const auto& [parameter, numbers] : errors) {
      expect_near(numbers.values(), at_once.likelihood_errors.at(name).at(parameter).values(), 1e-6, parameter);
    }
  }
  EXPECT_NEAR(evaluate(model, ragged.data).log_likelihood, evaluate(whole, ragged.data).log_likelihood,
              1e-12 * std::abs(at_once.history[0]));
  const std::map<std::string, Tensor> counts = expected_counts(model, ragged.data);
  const std::map<std::string, Tensor> all = expected_counts(whole, ragged.data);
  for (const auto& [name, of] : counts) expect_near(of.values(), all.at(name).values(), 1e-10, "counts of " + name);
  options.restarts = 3;
  options.threads = 1;
  options.standard_errors = false;
  const Fit one = fit(model, ragged.data, options);
  const double scored = evaluate(model, ragged.data, {.threads = 1}).log_likelihood;
  for (const int threads : {2, 3}) {
    options.threads = threads;
    const Fit other = fit(model, ragged.data, options);
    EXPECT_EQ(other.history, one.history) << threads << " threads";
    EXPECT_EQ(evaluate(model, ragged.data, {.threads = threads}).log_likelihood, scored);
  }
}

TEST(Blocks, HiddenMarkovModels) {
  Ragged ragged;
  ragged.hidden("a", "b");
  ragged.seen("x", {"b"});
  expect_same_fit(ragged, {.iterations = 6, .tolerance = 0, .standard_errors = true});
}

TEST(Blocks, MissingCellsWeightsAndPseudoCounts) {
  Ragged ragged;
  ragged.hidden("a", "b");
  ragged.seen("x", {"b"}, 30);
  ragged.seen("y", {"b", "a"}, 100);
  ragged.data.states.at("y") = random_states({sequences, longest}, 3, 95, ragged.random);
  Tensor weights(Dtype::float64, {sequences});
  for (double& weight : weights.span<double>()) weight = ragged.random.chance(20) ? 0 : ragged.random.uniform(0.5, 2);
  ragged.data.weights.emplace("n", weights);
  expect_same_fit(ragged, {.iterations = 6, .tolerance = 0, .pseudo_count = 0.5});
  ragged.data.weights.at("n") = Tensor::scalar(1.5);
  expect_same_fit(ragged);
}

TEST(Blocks, PlatesInsideOfSteps) {
  Ragged ragged;
  ragged.hidden("a", "b");
  ragged.graph.variable("note", 2, {"n", "key", "t"});
  ragged.table("notes", {"key", "b", "note"}, {3, 2, 2}, {"n", "t"});
  // Longest axes first or last in memory, and steps that do not exist marked as missing.
  const auto& lengths = ragged.data.lengths.at("t").values;
  const auto bytes = std::make_shared<std::vector<std::int8_t>>(sequences * 3 * longest, -1);
  for (std::int64_t n = 0; n < sequences; ++n) {
    for (std::int64_t k = 0; k < 3 * lengths[static_cast<std::size_t>(n)]; ++k) {
      (*bytes)[static_cast<std::size_t>(n * 3 * longest + k)] = static_cast<std::int8_t>(ragged.random.below(2));
    }
  }
  ragged.data.states.emplace(
      "note", IntegerView::view(bytes->data(), {sequences, 3, longest}, {3 * longest, 1, 3}).keeping(bytes));
  expect_same_fit(ragged);
}

TEST(Blocks, SeveralChains) {
  Ragged ragged;
  ragged.link("a", "b");
  ragged.link("c", "d");
  ragged.link("e", "f", "u");
  ragged.move("a", "b");
  ragged.move("c", "d");
  ragged.move("e", "f", "u");
  ragged.seen("x", {"b", "d"});
  ragged.graph.variable("z", 3, {"n", "u"});
  ragged.table("p of z", {"f", "z"}, {2, 3}, {"n", "u"});
  ragged.data.states.emplace("z", random_states({sequences, longest / 2}, 3, 0, ragged.random));
  expect_same_fit(ragged);
  Integers lengths({sequences}, 0);
  for (std::int64_t& length : lengths.values) length = ragged.random.below(longest / 4);
  ragged.data.lengths.emplace("u", lengths);
  expect_same_fit(ragged);
}

TEST(Blocks, PlatesAroundSequences) {
  Ragged ragged;
  ragged.graph.plate("site", 2);
  for (const char* name : {"a", "b"}) ragged.graph.variable(name, 2, {"site", "n", "t"});
  ragged.graph.link("t", "a", "b");
  ragged.graph.variable("x", 3, {"site", "n", "t"});
  ragged.table("start", {"site", "^a"}, {2, 2}, {"n"});
  ragged.table("move", {"a", "b"}, {2, 2}, {"site", "n", "t"});
  ragged.table("emit", {"b", "x"}, {2, 3}, {"site", "n", "t"});
  ragged.data.states.emplace("x", random_states({sequences, longest, 2}, 3, 5, ragged.random));
  Integers lengths({sequences, 2}, 0);
  for (std::size_t k = 0; k < lengths.values.size(); ++k) {
    lengths.values[k] = std::max<std::int64_t>(0, ragged.data.lengths.at("t").values[k / 2] - ragged.random.below(5));
  }
  ragged.data.lengths.at("t") = lengths;
  expect_same_fit(ragged);
}

TEST(Blocks, LikelihoodsOfNumbers) {
  Ragged ragged;
  ragged.link("a", "b");
  ragged.link("c", "d");
  ragged.move("a", "b");
  ragged.move("c", "d");
  ragged.graph.factor("length", {"b"}, {.tied = {"n", "t"}});
  ragged.graph.factor("known", {"d"}, {.tied = {"n", "t"}});
  ragged.graph.factor("pitch", {"key", "d"}, {.tied = {"n", "t"}});
  ragged.options.likelihoods = {
      {"length",
       {.family = Family::normal,
        .parameters = {{"mean", Tensor::of<double>({2}, {-1, 2})}, {"deviation", Tensor::scalar(1.0)}}}},
      {"known", {.family = Family::poisson, .parameters = {{"rate", Tensor::of<double>({2}, {1, 3})}}}},
      {"pitch",
       {.family = Family::normal,
        .parameters = {{"mean", Tensor::of<double>({3, 2}, {0, 1, 2, 3, 4, 5})}, {"deviation", Tensor::scalar(2.0)}}}}};
  for (const char* name : {"length", "known"}) {
    Tensor numbers(Dtype::float64, {sequences, longest});
    for (double& number : numbers.span<double>()) {
      number = ragged.random.chance(10) ? NAN : std::floor(ragged.random.uniform(0, 6));
    }
    ragged.data.measurements.emplace(name, numbers);
  }
  Tensor pitches(Dtype::float64, {sequences, 3, longest});
  for (double& pitch : pitches.span<double>()) pitch = ragged.random.uniform(-2, 8);
  ragged.data.measurements.emplace("pitch", pitches);
  FitOptions options{.iterations = 5, .tolerance = 0, .standard_errors = true};
  options.learn = {"length", "pitch", "move to b", "start of c"};
  expect_same_fit(ragged, options);
}

TEST(Blocks, ListsOfRows) {
  Ragged ragged;
  ragged.hidden("a", "b");
  ragged.seen("x", {"b"});
  ragged.graph.plate("word", 4);
  ragged.graph.variable("w", 3, {"n", "t", "word"});
  ragged.table("words", {"b", "w"}, {2, 3}, {"n", "t", "word"});
  ragged.graph.variable("v", 3, {"n"});
  ragged.table("letters", {"v"}, {3}, {"n"});
  Integers n({500}, 0), t({500}, 0), word({500}, 0), state({500}, 0), of_v({90}, 0), states_of_v({90}, 0);
  for (std::size_t r = 0; r < 500; ++r) {
    n.values[r] = ragged.random.below(sequences);
    t.values[r] = ragged.random.below(ragged.random.chance(80) ? 10 : longest);
    word.values[r] = ragged.random.below(4);
    state.values[r] = ragged.random.below(3);
  }
  for (std::size_t r = 0; r < 90; ++r) {
    of_v.values[r] = ragged.random.below(sequences);
    states_of_v.values[r] = ragged.random.below(3);
  }
  ragged.data.lists.emplace("w", Long{.states = state, .slices = {{"n", n}, {"t", t}, {"word", word}}});
  ragged.data.lists.emplace("v", Long{.states = states_of_v, .slices = {{"n", of_v}}});
  expect_same_fit(ragged, {.iterations = 5, .tolerance = 0, .standard_errors = true});
}

TEST(Blocks, BatchesAreShortToo) {
  Ragged ragged;
  ragged.hidden("a", "b");
  ragged.seen("x", {"b"}, 20);
  const FitOptions options{.iterations = 3, .batch = {{"n", 20}}};
  const Fit cut = fit(ragged.model(), ragged.data, options);
  const double scored = evaluate(cut.model, ragged.data).log_likelihood;
  EXPECT_NEAR(cut.log_likelihood, scored, 1e-11 * std::abs(scored));
}

TEST(Blocks, ImpossibleDataAreRefused) {
  Ragged ragged;
  ragged.hidden("a", "b");
  ragged.seen("x", {"b"});
  ragged.tables.at("p of x") = Tensor::of<double>({2, 3}, {0.5, 0.5, 0, 0.5, 0.5, 0});
  ASSERT_TRUE(is_cut(ragged.model(), ragged.data));
  EXPECT_THROW((void)fit(ragged.model(), ragged.data), ImpossibleError);
  EXPECT_TRUE(std::isinf(evaluate(ragged.model(), ragged.data).log_likelihood));
}

TEST(Blocks, ReportProgressAndStop) {
  Ragged ragged;
  ragged.hidden("a", "b");
  ragged.seen("x", {"b"});
  std::vector<double> told;
  (void)evaluate(ragged.model(), ragged.data, {.progress = [&](double share) { told.push_back(share); }});
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_NEAR(told.back(), 1, 1e-12);
  EXPECT_THROW((void)evaluate(ragged.model(), ragged.data, {.cancelled = [] { return true; }}), CancelledError);
}

TEST(Blocks, LimitsOfMemoryAreThoseOfOneBlock) {
  Ragged ragged;
  ragged.hidden("a", "b");
  ragged.seen("x", {"b"});
  EXPECT_THROW((void)evaluate(ragged.model(), ragged.data, {.memory_limit = 64}), MemoryLimitError);
  const double all = evaluate(ragged.model(), ragged.data).log_likelihood;
  EXPECT_NEAR(evaluate(ragged.model(), ragged.data, {.memory_limit = 200000}).log_likelihood, all, 1e-9);
}

}  // namespace
}  // namespace plated::test
