// Stepwise EM over minibatches of a plate.
#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "property/written_case.hpp"
#include "unit/graph/message_of.hpp"

namespace plated::test {
namespace {

/// Rows with a hidden kind.
Model rows_model(std::int64_t rows) {
  FactorGraph graph;
  graph.plate("row", rows);
  graph.plate("question", 5);
  graph.variable("kind", 2, {"row"});
  graph.variable("answer", 3, {"row", "question"});
  graph.factor("kinds", {"kind"}, {.tied = {"row"}, .distribution_of = "kind"});
  graph.factor("answers", {"kind", "answer"}, {.tied = {"row", "question"}, .distribution_of = "answer"});
  return make_model(graph,
                    {{"kinds", Tensor::of<double>({2}, {0.5, 0.5})},
                     {"answers", Tensor::of<double>({2, 3}, {0.5, 0.3, 0.2, 0.2, 0.3, 0.5})}},
                    {.space = Space::real});
}

Integers answers(std::int64_t rows, int missing_percent) {
  Random random(5);
  Integers seen({rows, 5}, -1);
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool first = random.chance(35);
    for (std::int64_t q = 0; q < 5; ++q) {
      if (random.chance(missing_percent)) continue;
      const bool low = random.chance(first ? 75 : 10);
      seen.values[static_cast<std::size_t>(row * 5 + q)] = low ? 0 : 1 + random.below(2);
    }
  }
  return seen;
}

double per_row(const Fit& fitted) { return fitted.log_likelihood / fitted.observations; }

TEST(Stepwise, ReachesTheOptimumOfBatchEm) {
  const Data data{.states = {{"answer", answers(1030, 15)}}};
  const Fit all = fit(rows_model(1030), data, {.iterations = 2000, .tolerance = 1e-14});
  const Fit start = fit(rows_model(1030), data, {.iterations = 0});
  const Fit one = fit(rows_model(1030), data, {.iterations = 1, .batch = {{"row", 50}}});
  const Fit many = fit(rows_model(1030), data, {.iterations = 300, .tolerance = 0, .batch = {{"row", 50}}});
  // One pass does most of it; of many, what is left falls with the size of the last steps.
  EXPECT_LT(per_row(all) - per_row(one), 0.05 * (per_row(all) - per_row(start)));
  EXPECT_LT(per_row(all) - per_row(many), 1e-5);
  EXPECT_GE(per_row(all) - per_row(many), -1e-9);
  EXPECT_EQ(many.restarts[0].iterations, 300);
  for (std::size_t f = 0; f < 2; ++f) {
    const std::vector<double> right = all.model.factors[f].values();
    const std::vector<double> found = many.model.factors[f].values();
    for (std::size_t k = 0; k < right.size(); ++k) EXPECT_NEAR(found[k], right[k], 5e-3);
  }
  const Score score = evaluate(many.model, data);
  EXPECT_NEAR(score.log_likelihood, many.log_likelihood, 1e-8);
}

TEST(Stepwise, OfOneBatchIsBatchEm) {
  const Data data{.states = {{"answer", answers(40, 20)}}, .weights = {{"row", Tensor::scalar(2.0)}}};
  const Fit all = fit(rows_model(40), data, {.iterations = 1, .accelerate = false});
  const Fit batch = fit(rows_model(40), data, {.iterations = 1, .batch = {{"row", 40}}});
  EXPECT_NEAR(batch.history[0], all.history[0], 1e-9);
  EXPECT_NEAR(batch.log_likelihood, all.log_likelihood, 1e-9);
}

TEST(Stepwise, HasTheBitsOfItsSeed) {
  const Data data{.states = {{"answer", answers(200, 0)}}};
  FitOptions options{.iterations = 3, .batch = {{"row", 30}}};
  const Fit one = fit(rows_model(200), data, options);
  options.threads = 1;
  EXPECT_EQ(fit(rows_model(200), data, options).history, one.history);
  options.seed = 7;
  EXPECT_NE(fit(rows_model(200), data, options).history, one.history);
}

TEST(Stepwise, TakesSequencesOfUnequalLengths) {
  Random random(4);
  FactorGraph graph;
  graph.plate("n", 60);
  graph.chain("t", 12);
  graph.variable("a", 2, {"n", "t"});
  graph.variable("b", 2, {"n", "t"});
  graph.variable("seen", 2, {"n", "t"});
  graph.link("t", "a", "b");
  graph.factor("start", {"a"}, {.tied = {"n"}, .distribution_of = "a"});
  graph.factor("move", {"a", "b"}, {.tied = {"n", "t"}, .distribution_of = "b"});
  graph.factor("emit", {"b", "seen"}, {.tied = {"n", "t"}, .distribution_of = "seen"});
  const Model model = make_model(graph,
                                 {{"start", Tensor::of<double>({2}, {0.5, 0.5})},
                                  {"move", Tensor::of<double>({2, 2}, {0.8, 0.2, 0.3, 0.7})},
                                  {"emit", Tensor::of<double>({2, 2}, {0.9, 0.1, 0.2, 0.8})}},
                                 {.space = Space::real});
  Integers seen({60, 12}, 0);
  Integers lengths({60}, 0);
  for (std::int64_t& state : seen.values) state = random.below(2);
  for (std::int64_t& length : lengths.values) length = 1 + random.below(12);
  const Data data{.states = {{"seen", seen}}, .lengths = {{"t", lengths}}};
  const Fit all = fit(model, data, {.iterations = 0});
  const Fit batches = fit(model, data, {.iterations = 0, .batch = {{"n", 7}}});
  EXPECT_NEAR(batches.log_likelihood, all.log_likelihood, 1e-9);
  const Fit learnt = fit(model, data, {.iterations = 20, .batch = {{"n", 7}}});
  EXPECT_GT(learnt.log_likelihood, all.log_likelihood);
}

TEST(Stepwise, RefusesPlatesThatCannotBeCut) {
  const Data data{.states = {{"answer", answers(4, 0)}}};
  const auto refused = [&](const Model& model, const std::string& plate, std::int64_t size) {
    return message_of<OptionError>([&] { (void)fit(model, data, {.batch = {{plate, size}}}); });
  };
  EXPECT_EQ(refused(rows_model(4), "question", 2),
            "the data cannot be read in batches of 'question': 'kind', which is outside of it, joins its slices");
  EXPECT_EQ(refused(rows_model(4), "row", 0),
            "the data cannot be read in batches of 'row': a batch has one slice at least");
  EXPECT_THROW((void)fit(rows_model(4), data, {.batch = {{"kind", 2}}}), UnknownNameError);
  EXPECT_THROW((void)fit(rows_model(4), data, {.batch = {{"row", 2}, {"question", 2}}}), OptionError);
}

}  // namespace
}  // namespace plated::test
