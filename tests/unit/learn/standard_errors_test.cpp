// Standard errors that can be written down, and what is said where there are none.
#include <gtest/gtest.h>

#include <cmath>

#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "unit/learn/small_models.hpp"

namespace plated::test {
namespace {

/// x and its effect y in a plate.
Model two_variables(std::vector<double> x, std::vector<double> y) {
  FactorGraph graph;
  graph.plate("i", 1);
  graph.variable("x", 2, {"i"});
  graph.variable("y", 3, {"i"});
  graph.factor("x", {"x"}, {.tied = {"i"}, .distribution_of = "x"});
  graph.factor("y", {"x", "y"}, {.tied = {"i"}, .distribution_of = "y"});
  return make_model(graph, {{"x", Tensor::of({2}, x)}, {"y", Tensor::of({2, 3}, y)}}, {.space = Space::real});
}

const Model start = two_variables({0.5, 0.5}, {0.2, 0.3, 0.5, 0.4, 0.4, 0.2});

TEST(StandardErrors, AreThoseOfProportionsWhereAllIsObserved) {
  const Data data{
      .states = {{"x", Integers({8}, {0, 0, 0, 0, 0, 1, 1, 1})}, {"y", Integers({8}, {0, 1, 1, 2, 2, 0, 1, 2})}}};
  const Fit got = fit(start, data, {.standard_errors = true});
  const auto error = [](double p, double n) { return std::sqrt(p * (1 - p) / n); };
  expect_near(got.standard_errors.at("x").values(), {error(0.375, 8), error(0.375, 8)}, 1e-12);
  const double third = error(1.0 / 3, 3);
  expect_near(got.standard_errors.at("y").values(), {error(0.2, 5), error(0.4, 5), error(0.4, 5), third, third, third},
              1e-12);
  EXPECT_TRUE(got.notes.empty());
  EXPECT_TRUE(fit(start, data).standard_errors.empty());
  // A slice that stands for four tells as much as four.
  Data weighted = data;
  weighted.weights = {{"i", Tensor::scalar(4.0)}};
  expect_near(fit(start, weighted, {.standard_errors = true}).standard_errors.at("x").values(),
              {error(0.375, 32), error(0.375, 32)}, 1e-12);
}

TEST(StandardErrors, SayWhatIsZeroAndWhatNothingReaches) {
  const Data data{.states = {{"x", Integers({4}, {0, 0, 0, 0})}, {"y", Integers({4}, {0, 1, 1, 0})}}};
  const Fit got = fit(start, data, {.standard_errors = true});
  expect_near(got.standard_errors.at("x").values(), {0, 0}, 0);
  const std::vector<double> y = got.standard_errors.at("y").values();
  expect_near({y[0], y[1], y[2]}, {0.25, 0.25, 0}, 1e-12);
  for (std::size_t k = 3; k < 6; ++k) EXPECT_TRUE(std::isinf(y[k]));
  ASSERT_EQ(got.notes.size(), 3u);
  EXPECT_EQ(got.notes[0],
            "factor 'x': entries (1) are zero, at the boundary: they are taken as fixed and have no standard error");
  EXPECT_EQ(got.notes[1],
            "factor 'y': entries (0, 2) are zero, at the boundary: they are taken as fixed and have no standard error");
  EXPECT_EQ(got.notes[2],
            "factor 'y': entries (1, 0), (1, 1), (1, 2) have standard errors without bound: nothing that is observed "
            "reaches their rows");
}

TEST(StandardErrors, SayThatTheInformationIsSingular) {
  // Five free parameters, of which three numbers of a table are seen.
  const Data data{.states = {{"y", Integers({9}, {0, 0, 1, 1, 1, 2, 2, 2, 2})}}};
  const Fit got = fit(start, data, {.standard_errors = true});
  for (const auto& [name, errors] : got.standard_errors) {
    for (const double error : errors.values()) EXPECT_TRUE(error >= 0) << name;
  }
  EXPECT_TRUE(std::isinf(got.standard_errors.at("x").values()[0]));
  EXPECT_NE(got.notes.back().find("the information is singular, the data do not determine them"), std::string::npos)
      << got.notes.back();
  // Two kinds that start alike stay alike: a saddle, of which labels could be swapped.
  const Model alike = two_variables({0.5, 0.5}, {0.2, 0.3, 0.5, 0.2, 0.3, 0.5});
  const Fit stuck = fit(alike, data, {.standard_errors = true});
  EXPECT_TRUE(std::isinf(stuck.standard_errors.at("y").values()[0]));
}

TEST(StandardErrors, SayWhatIsNotDeterminedWhereverEmStops) {
  // Two answers of each of 1,000 people: three numbers of a table, and five free parameters.
  FactorGraph graph;
  graph.plate("person", 4);
  graph.plate("question", 2);
  graph.variable("kind", 2, {"person"});
  graph.variable("answer", 2, {"person", "question"});
  graph.factor("kinds", {"kind"}, {.tied = {"person"}, .distribution_of = "kind"});
  graph.factor("answers", {"question", "kind", "answer"}, {.tied = {"person"}, .distribution_of = "answer"});
  const Model model = make_model(graph,
                                 {{"kinds", Tensor::of<double>({2}, {0.4, 0.6})},
                                  {"answers", Tensor::of<double>({2, 2, 2}, {0.8, 0.2, 0.3, 0.7, 0.6, 0.4, 0.1, 0.9})}},
                                 {.space = Space::real});
  const Data data{.states = {{"answer", Integers({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1})}},
                  .weights = {{"person", Tensor::of<double>({4}, {310, 190, 120, 380})}}};
  for (const double tolerance : {1e-4, 1e-6, 1e-9, 1e-12}) {
    const Fit got = fit(model, data, {.iterations = 1000, .tolerance = tolerance, .standard_errors = true});
    for (const auto& [name, errors] : got.standard_errors) {
      for (const double error : errors.values()) EXPECT_TRUE(std::isinf(error)) << name << " " << tolerance;
    }
    EXPECT_NE(got.notes.back().find("without bound: the information is singular"), std::string::npos);
  }
}

TEST(StandardErrors, SayThatASaddleIsNoMaximum) {
  // Three votes on each item, and two classes that start alike.
  Model model = dawid_skene(30, 3, 2);
  model.factors[1] = Tensor::of({3, 2, 2}, std::vector<double>(12, 0.5));
  Integers seen({30, 3}, 0);
  for (std::int64_t i = 15; i < 30; ++i) {
    for (std::int64_t a = 0; a < 3; ++a) seen.at({i, a}) = 1;
  }
  const Fit got = fit(model, {.states = {{"vote", seen}}}, {.standard_errors = true});
  EXPECT_NE(got.notes.back().find("not positive definite, so that the numbers are no maximum"), std::string::npos)
      << got.notes.back();
}

TEST(StandardErrors, AreRefusedWhereTheyDoNotFit) {
  const Data data{.states = {{"vote", votes(5, 40, 3, 0, 1)}}};
  EXPECT_THROW((void)fit(dawid_skene(5, 40, 3), data, {.standard_errors = true, .memory_limit = 1000000}),
               MemoryLimitError);
}

}  // namespace
}  // namespace plated::test
