// Stepwise EM over minibatches of models with likelihoods of numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "property/written_case.hpp"
#include "unit/graph/message_of.hpp"
#include "unit/likelihood/mixtures.hpp"
#include "unit/likelihood/numbers_model.hpp"

namespace plated::test {
namespace {

void expect_near_parameters(const Fit& one, const Fit& other, double tolerance) {
  for (const auto& [name, right] : one.model.likelihoods.at("numbers").parameters) {
    const std::vector<double> want = right.values();
    const std::vector<double> have = other.model.likelihoods.at("numbers").parameters.at(name).values();
    ASSERT_EQ(have.size(), want.size());
    for (std::size_t k = 0; k < want.size(); ++k) {
      EXPECT_NEAR(have[k], want[k], tolerance * std::max(1.0, std::abs(want[k]))) << name << " " << k;
    }
  }
}

TEST(StepwiseNumbers, OfOneBatchIsBatchEm) {
  for (const Mixture& mixture : mixtures()) {
    SCOPED_TRACE(name(mixture.start.family));
    const Data data = drawn_with_weights(60, mixture);
    const Model model = rows_model(60, mixture.start);
    const Fit all = fit(model, data, {.iterations = 1, .accelerate = false});
    const Fit batch = fit(model, data, {.iterations = 1, .batch = {{"row", 60}}});
    EXPECT_NEAR(batch.history[0], all.history[0], 1e-9 * std::abs(all.history[0]));
    EXPECT_NEAR(batch.log_likelihood, all.log_likelihood, 1e-9 * std::abs(all.log_likelihood));
    expect_near_parameters(all, batch, 1e-9);
  }
}

TEST(StepwiseNumbers, ReachesTheOptimumOfBatchEm) {
  for (const Mixture& mixture : mixtures()) {
    SCOPED_TRACE(name(mixture.start.family));
    const Data data{.measurements = {{"numbers", drawn(1030, mixture, 15)}}};
    const Model model = rows_model(1030, mixture.start);
    const Fit all = fit(model, data, {.iterations = 3000, .tolerance = 1e-14});
    const Fit start = fit(model, data, {.iterations = 0});
    const Fit one = fit(model, data, {.iterations = 1, .batch = {{"row", 50}}});
    const Fit many = fit(model, data, {.iterations = 100, .tolerance = 0, .batch = {{"row", 50}}});
    EXPECT_LT(all.log_likelihood - one.log_likelihood, 0.1 * (all.log_likelihood - start.log_likelihood));
    EXPECT_LT(all.log_likelihood - many.log_likelihood, 1e-4 * 1030);
    EXPECT_GE(all.log_likelihood - many.log_likelihood, -1e-6);
    EXPECT_NEAR(evaluate(many.model, data).log_likelihood, many.log_likelihood, 1e-6);
  }
}

TEST(StepwiseNumbers, MomentsAreAveragedAboutOnePoint) {
  // Two batches of thirty, far from zero: the second weighs 2^−0.7.
  Random random(8);
  std::vector<double> numbers;
  std::vector<double> sums(2), squares(2);
  for (std::size_t k = 0; k < 60; ++k) {
    const double away = random.uniform(0, 1) + (k < 30 ? 0.0 : 5.0);
    numbers.push_back(1e6 + away);
    sums[k / 30] += away / 30;
    squares[k / 30] += away * away / 30;
  }
  Model model = numbers_model(60, {.family = Family::normal});
  const Fit got = fit(model, {.measurements = {{"x", list_of(numbers)}}}, {.iterations = 1, .batch = {{"i", 30}}});
  const double share = std::pow(2.0, -0.7);
  const double mean = got.model.likelihoods.at("f").parameters.at("mean").item() - 1e6;
  const double deviation = got.model.likelihoods.at("f").parameters.at("deviation").item();
  const std::size_t last = mean > 2.5 ? 1 : 0;  // the order is drawn
  const double want = (1 - share) * sums[1 - last] + share * sums[last];
  EXPECT_NEAR(mean, want, 1e-8);
  EXPECT_NEAR(deviation, std::sqrt((1 - share) * squares[1 - last] + share * squares[last] - want * want), 1e-8);
}

TEST(StepwiseNumbers, AFewNumbersMakeNoDegenerateComponent) {
  // A step on the first rows alone would put the components on single numbers, which no others reach.
  const Mixture normal = mixtures()[0];
  const Data data{.measurements = {{"numbers", drawn(500, normal, 0)}}};
  const Fit all = fit(rows_model(500, normal.start), data, {.iterations = 200});
  const Fit got = fit(rows_model(500, normal.start), data, {.iterations = 10, .batch = {{"row", 1}}});
  EXPECT_TRUE(std::none_of(got.notes.begin(), got.notes.end(),
                           [](const std::string& note) { return note.find("degenerate") != std::string::npos; }));
  EXPECT_LT(all.log_likelihood - got.log_likelihood, 20);
}

/// Sequences with two numbers at each time, one of which is of a fixed distribution.
Model sequences_model() {
  FactorGraph graph;
  graph.plate("n", 60);
  graph.chain("t", 12);
  graph.variable("a", 2, {"n", "t"});
  graph.variable("b", 2, {"n", "t"});
  graph.link("t", "a", "b");
  graph.factor("start", {"a"}, {.tied = {"n"}, .distribution_of = "a"});
  graph.factor("move", {"a", "b"}, {.tied = {"n", "t"}, .distribution_of = "b"});
  graph.factor("step", {"b"}, {.tied = {"n", "t"}});
  graph.factor("turn", {"b"}, {.tied = {"n", "t"}});
  const Likelihood step{.family = Family::gamma, .parameters = {{"shape", two(2, 3)}, {"rate", two(2, 1)}}};
  const Likelihood turn{.family = Family::von_mises, .parameters = {{"mean", two(0, 1)}, {"concentration", two(1, 3)}}};
  return make_model(graph, {{"start", two(0.5, 0.5)}, {"move", Tensor::of<double>({2, 2}, {0.8, 0.2, 0.3, 0.7})}},
                    {.space = Space::real,
                     .learning = {{"start", {.learn = true}}, {"move", {.learn = true}}, {"step", {.learn = true}}},
                     .likelihoods = {{"step", step}, {"turn", turn}}});
}

TEST(StepwiseNumbers, TakesSequencesOfUnequalLengthsAndFixedLikelihoods) {
  Random random(4);
  const auto draw = [&](double low, double high) {
    std::vector<double> numbers;
    // The first batch has none: its factors are ones.
    for (int k = 0; k < 60 * 12; ++k) {
      const double number = random.uniform(low, high);
      numbers.push_back(k < 7 * 12 || random.chance(10) ? missing : number);
    }
    return Tensor::of<double>({60, 12}, numbers);
  };
  Integers lengths({60}, 0);
  for (std::int64_t& length : lengths.values) length = 1 + random.below(12);
  const Data data{.measurements = {{"step", draw(0.1, 6)}, {"turn", draw(-3, 3)}}, .lengths = {{"t", lengths}}};
  const Fit all = fit(sequences_model(), data, {.iterations = 0});
  const Fit batches = fit(sequences_model(), data, {.iterations = 0, .batch = {{"n", 7}}});
  EXPECT_NEAR(batches.log_likelihood, all.log_likelihood, 1e-8);
  const Fit learnt = fit(sequences_model(), data, {.iterations = 20, .batch = {{"n", 7}}});
  EXPECT_GT(learnt.log_likelihood, all.log_likelihood + 10);
  EXPECT_EQ(learnt.model.likelihoods.at("turn").parameters.at("mean").values(), (std::vector<double>{0, 1}));
  EXPECT_NEAR(evaluate(learnt.model, data).log_likelihood, learnt.log_likelihood, 1e-8);
}

TEST(StepwiseNumbers, HasTheBitsOfItsSeed) {
  const Mixture gamma = mixtures()[3];
  const Data data{.measurements = {{"numbers", drawn(200, gamma, 5)}}};
  FitOptions options{.restarts = 2, .iterations = 3, .batch = {{"row", 30}}};
  const Fit one = fit(rows_model(200, gamma.start), data, options);
  options.threads = 1;
  EXPECT_EQ(fit(rows_model(200, gamma.start), data, options).history, one.history);
  options.seed = 7;
  EXPECT_NE(fit(rows_model(200, gamma.start), data, options).history, one.history);
}

TEST(StepwiseNumbers, RefusesParametersOfSlicesAndNumbersWithoutADensity) {
  FactorGraph graph;
  graph.plate("row", 3);
  graph.factor("numbers", {"row"});
  const Likelihood own{.family = Family::poisson, .parameters = {{"rate", Tensor::of<double>({3}, {1, 2, 3})}}};
  const Model untied = make_model(graph, {}, {.likelihoods = {{"numbers", own}}});
  EXPECT_EQ(message_of<OptionError>([&] {
              (void)fit(untied, {.measurements = {{"numbers", list_of({1, 2, 3})}}}, {.batch = {{"row", 2}}});
            }),
            "the data cannot be read in batches of 'row': factor 'numbers' has an axis for it");
  Model fixed = mixture_model(5, 2, {.family = Family::poisson, .parameters = {{"rate", two(1, 4)}}});
  for (const bool learnt : {true, false}) {
    fixed.learning["f"].learn = learnt;
    EXPECT_EQ(message_of<ValueError>([&] {
                (void)fit(fixed, {.measurements = {{"x", list_of({1, 2, 3, 4, -1})}}}, {.batch = {{"i", 2}}});
              }),
              "the data of 'x' have -1 at (4), and the likelihood 'f' is of whole numbers from 0");
  }
}

}  // namespace
}  // namespace plated::test
