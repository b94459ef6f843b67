// Models from graphs and numbers: what fits, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plated/error.hpp"
#include "plated/model.hpp"
#include "plated/solve.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::message_of;

FactorGraph wet_grass() {
  FactorGraph graph;
  graph.plate("i", 3);
  graph.variable("rain", 2);
  graph.variable("wet", 2);
  graph.factor("prior", {"rain"}, {.distribution_of = "rain"});
  graph.factor("sensor", {"rain", "wet"}, {.tied = {"i"}, .distribution_of = "wet"});
  return graph;
}

std::map<std::string, Tensor> numbers() {
  return {{"prior", Tensor::of<double>({2}, {0.8, 0.2})},
          {"sensor", Tensor::of<double>({2, 2}, {0.9, 0.1, 0.25, 0.75})}};
}

TEST(MakeModel, PutsNumbersInTheOrderOfTheGraph) {
  const Model model = make_model(wet_grass(), numbers(), {.space = Space::real, .states = {{"rain", {"no", "yes"}}}});
  ASSERT_EQ(model.factors.size(), 2U);
  EXPECT_EQ(model.factors[0].shape(), Tensor::Shape{2});
  EXPECT_EQ(model.children, (std::vector<std::string>{"rain", "wet"}));
  EXPECT_TRUE(model.graph.factors()[0].trusted) << "it was checked here";
  EXPECT_EQ(model.graph.outputs().size(), 1U);
  EXPECT_EQ(state_label(model, "rain", 1), "yes");
}

TEST(MakeModel, TakesLogarithmsUnlessToldOtherwise) {
  FactorGraph graph;
  graph.variable("x", 2);
  graph.factor("f", {"x"});
  const Model model =
      make_model(graph, {{"f", Tensor::of<double>({2}, {-3, -std::numeric_limits<double>::infinity()})}});
  EXPECT_EQ(model.space, Space::log);
  EXPECT_THROW((void)make_model(graph, {{"f", model.factors[0]}}, {.space = Space::real}), ValueError);
}

TEST(MakeModel, SaysWhatDoesNotFit) {
  const ModelOptions real{.space = Space::real};
  auto some = numbers();
  some.erase("prior");
  EXPECT_SAYS(message_of<OperandCountError>([&] { (void)make_model(wet_grass(), some, real); }),
              "factor 'prior' has no numbers");
  auto more = numbers();
  more["posterior"] = Tensor::scalar(1.0);
  EXPECT_SAYS(message_of<UnknownNameError>([&] { (void)make_model(wet_grass(), more, real); }),
              "no factor 'posterior'");
  auto wide = numbers();
  wide["sensor"] = Tensor(Dtype::float64, {2, 3});
  EXPECT_SAYS(message_of<ShapeError>([&] { (void)make_model(wet_grass(), wide, real); }),
              "factor 'sensor' has the shape (2, 3), and its dims \"rain wet\" have (2, 2)");
  auto loose = numbers();
  loose["prior"] = Tensor::of<double>({2}, {0.8, 0.3});
  EXPECT_SAYS(message_of<ValueError>([&] { (void)make_model(wet_grass(), loose, real); }),
              "factor 'prior' does not sum to one over 'rain'");
  loose["prior"] = Tensor::of<double>({2}, {1.2, -0.2});
  EXPECT_SAYS(message_of<ValueError>([&] { (void)make_model(wet_grass(), loose, real); }), "is below zero");
  loose["prior"] = Tensor();
  EXPECT_THROW((void)make_model(wet_grass(), loose, real), NullDataError);
}

TEST(MakeModel, ChecksStatesEvidenceAndNames) {
  const auto refused = [](ModelOptions options) {
    return [options] {
      ModelOptions copy = options;
      copy.space = Space::real;
      (void)make_model(wet_grass(), numbers(), copy);
    };
  };
  EXPECT_SAYS(message_of<SizeError>(refused({.states = {{"rain", {"no"}}}})), "'rain' has 2 states, and 1 names");
  EXPECT_THROW(refused({.states = {{"rain", {"no", "no"}}}})(), DuplicateNameError);
  EXPECT_THROW(refused({.states = {{"snow", {"no", "yes"}}}})(), UnknownNameError);
  EXPECT_THROW(refused({.labels = {{"snow", "Snow"}}})(), UnknownNameError);
  EXPECT_THROW(refused({.observed = {"snow"}})(), UnknownNameError);
  EXPECT_THROW(refused({.lengths = {{"rain", Integers({}, {1})}}})(), UnknownNameError);
  EXPECT_SAYS(message_of<ShapeError>(refused({.evidence = {{"wet", Integers({2}, {0, 1})}}})),
              "the evidence of 'wet' has the shape (2), and it is in {'i'}: (3) is expected");
  EXPECT_SAYS(message_of<ShapeError>(refused({.evidence = {{"rain", Integers({2}, {0, 1})}}})),
              "it is in no plate: a single state is expected");
  EXPECT_SAYS(message_of<ValueError>(refused({.evidence = {{"wet", Integers({3}, {0, 1, 2})}}})),
              "has the value 2 at index (2)");
}

TEST(MakeModel, ObservesSomeSlicesWhereAChainComesBeforeAPlate) {
  FactorGraph graph;
  graph.chain("t", 2);
  graph.plate("i", 3);
  graph.variable("x", 2, {"t", "i"});
  graph.variable("y", 2, {"t", "i"});
  graph.link("t", "x", "y");
  graph.factor("f", {"t", "i", "y"});
  std::vector<double> weights;
  for (int k = 0; k < 12; ++k) weights.push_back(1 + k);
  const Model model = make_model(graph, {{"f", Tensor::of({2, 3, 2}, weights)}},
                                 {.space = Space::real, .evidence = {{"y", Integers({2, 3}, {0, -1, 1, -1, 1, 0})}}});
  // Axes are those of declaration; the first states, x of slice 0, are free.
  EXPECT_NEAR(log_partition(model).item(), std::log(8.0 * 1 * (3 + 4) * 6 * (7 + 8) * 10 * 11), 1e-12);
}

TEST(StateNamed, FindsNamesThenNumbersAndListsTheLegalOnes) {
  const Model model = make_model(wet_grass(), numbers(),
                                 {.space = Space::real, .states = {{"rain", {"1", "0"}}}, .labels = {{"wet", "Wet?"}}});
  EXPECT_EQ(state_named(model, "rain", "1"), 0) << "a name before a number";
  EXPECT_EQ(state_named(model, "Wet?", "1"), 1);
  EXPECT_SAYS(message_of<UnknownNameError>([&] { (void)state_named(model, "rain", "maybe"); }),
              "'rain' has no state 'maybe': its states are '1', '0'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { (void)state_named(model, "wet", "2"); }), "its states are 0 … 1");
  EXPECT_THROW((void)state_named(model, "snow", "1"), UnknownNameError);
}

}  // namespace
}  // namespace plated
