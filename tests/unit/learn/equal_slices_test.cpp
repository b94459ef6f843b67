// Joins equal slices of data, and fits as without.
#include "learn/equal_slices.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "property/written_case.hpp"

namespace plated::test {
namespace {

using learn::join_equal_slices;
using learn::WeightedModel;

/// Rows of questions with a hidden class.
Model classes(std::int64_t rows, std::int64_t questions, std::int64_t kinds) {
  FactorGraph graph;
  graph.plate("row", rows);
  graph.plate("question", questions);
  graph.variable("kind", kinds, {"row"});
  graph.variable("answer", 2, {"row", "question"});
  graph.factor("kinds", {"kind"}, {.tied = {"row"}, .distribution_of = "kind"});
  graph.factor("answers", {"question", "kind", "answer"}, {.tied = {"row"}, .distribution_of = "answer"});
  Random random(7);
  Tensor prior(Dtype::float64, {kinds});
  for (double& p : prior.span<double>()) p = 1.0 / static_cast<double>(kinds);
  Tensor answers(Dtype::float64, {questions, kinds, 2});
  const std::span<double> entries = answers.span<double>();
  for (std::size_t k = 0; k < entries.size(); k += 2) entries[k + 1] = 1 - (entries[k] = random.uniform(0.2, 0.8));
  return make_model(graph, {{"kinds", prior}, {"answers", answers}}, {.space = Space::real});
}

Integers random_answers(std::int64_t rows, std::int64_t questions, int missing_percent) {
  Random random(3);
  Integers seen({rows, questions}, -1);
  for (std::int64_t& state : seen.values) {
    if (!random.chance(missing_percent)) state = random.below(2);
  }
  return seen;
}

TEST(EqualSlices, AreJoinedWithTheirMultiplicities) {
  Model model = classes(5, 2, 2);
  observe(model, {{"answer", Integers({5, 2}, {0, 1, 1, 1, 0, 1, 0, 1, 1, 1})}});
  const WeightedModel joined = join_equal_slices(model, {});
  EXPECT_EQ(joined.model.evidence.at("answer"), Integers({2, 2}, {0, 1, 1, 1}));
  EXPECT_EQ(joined.weights.at("row").values(), (std::vector<double>{3, 2}));
  EXPECT_EQ(joined.model.graph.dims()[*joined.model.graph.find("row")].size, 2);
  const WeightedModel weighted = join_equal_slices(model, {{"row", Tensor::of<double>({5}, {1, 0.5, 2, 0, 1})}});
  EXPECT_EQ(weighted.weights.at("row").values(), (std::vector<double>{3, 1.5}));
  const WeightedModel scaled = join_equal_slices(model, {{"row", Tensor::scalar(2.0)}});
  EXPECT_EQ(scaled.weights.at("row").values(), (std::vector<double>{6, 4}));
}

TEST(EqualSlices, AreLeftWhereMostDiffer) {
  Model model = classes(3, 2, 2);
  observe(model, {{"answer", Integers({3, 2}, {0, 1, 1, 1, 0, 1})}});
  EXPECT_TRUE(join_equal_slices(model, {}).weights.empty());
}

TEST(EqualSlices, OfPlatesThatFactorsHaveAxesForAreLeft) {
  Model model = classes(2, 4, 2);
  observe(model, {{"answer", Integers({2, 4}, {0, 0, 0, 0, 1, 1, 1, 1})}});
  EXPECT_TRUE(join_equal_slices(model, {}).weights.empty());
}

TEST(EqualSlices, WhoseWeightsHaveNoSumAreLeft) {
  Model model = classes(4, 2, 2);
  observe(model, {{"answer", Integers({4, 2}, 0)}});
  const Weights huge{{"row", Tensor::of(std::vector<double>(4, 1e308))}};
  const WeightedModel left = join_equal_slices(model, huge);
  EXPECT_EQ(left.weights.at("row").values(), huge.at("row").values());
  EXPECT_EQ(left.model.evidence.at("answer").shape()[0], 4);
}

TEST(EqualSlices, OfNoWeightAreNoRewardOfParameters) {
  Model model = classes(3, 2, 2);
  const Weights none{{"row", Tensor::of(std::vector<double>{0, 0, 0})}};
  const Fit fitted = fit(model, {.states = {{"answer", Integers({3, 2}, {0, 1, 1, 0, 0, 0})}}, .weights = none});
  EXPECT_EQ(fitted.observations, 0);
  EXPECT_EQ(fitted.bic, -2 * fitted.log_likelihood);
}

TEST(EqualSlices, FitAsDistinctOnesWithWeights) {
  constexpr std::int64_t rows = 3000;
  const Integers seen = random_answers(rows, 4, 10);
  const FitOptions options{.iterations = 20, .tolerance = 0};
  const Fit all = fit(classes(rows, 4, 3), {.states = {{"answer", seen}}}, options);
  Model observed = classes(rows, 4, 3);
  observe(observed, {{"answer", seen}});
  const WeightedModel joined = join_equal_slices(observed, {});
  ASSERT_LE(joined.model.evidence.at("answer").shape()[0], 81);
  Model few = classes(joined.model.evidence.at("answer").shape()[0], 4, 3);
  const Fit distinct = fit(few, {.states = joined.model.evidence, .weights = joined.weights}, options);
  EXPECT_EQ(all.history, distinct.history);
  EXPECT_EQ(all.observations, distinct.observations);
  std::vector<double> ones(rows, 1.0);
  const Fit weighted =
      fit(classes(rows, 4, 3), {.states = {{"answer", seen}}, .weights = {{"row", Tensor::of(ones)}}}, options);
  EXPECT_EQ(all.history, weighted.history);
}

}  // namespace
}  // namespace plated::test
