// Reduction: the states and variables that evidence and zeros remove from a model.
#include "reduce/reduction.hpp"

#include <gtest/gtest.h>

#include "plated/error.hpp"

namespace plated::reduce {
namespace {

Model pair(const std::vector<double>& table) {
  Model model;
  model.graph.variable("a", 3);
  model.graph.variable("b", 2);
  model.graph.factor("prior", {"a"}, {.distribution_of = "a", .trusted = true});
  model.graph.factor("table", {"a", "b"}, {.distribution_of = "b", .trusted = true});
  model.graph.output({});
  model.factors = {Tensor::of<double>({3}, {0.5, 0.25, 0.25}), Tensor::of<double>({3, 2}, table)};
  model.children = {"a", "b"};
  return model;
}

TEST(AbsorbEvidence, KeepsTheStateThatWasSeen) {
  Model model = pair({0.1, 0.9, 0.2, 0.8, 0.3, 0.7});
  model.evidence.emplace("b", Integers({}, {1}));
  const Reduction reduction = reduce(model);
  EXPECT_EQ(reduction.model.factors[1].values(), (std::vector<double>{0.9, 0.8, 0.7}));
  EXPECT_TRUE(reduction.model.evidence.empty());
  EXPECT_EQ(reduction.known.at(1).values(), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(reduction.model.graph.dims()[1].size, 1);
  // One row of it no longer sums to one; the prior still does.
  EXPECT_FALSE(reduction.model.graph.factors()[1].distribution_of);
  EXPECT_TRUE(reduction.model.graph.factors()[0].distribution_of);
}

TEST(AbsorbEvidence, RefusesStatesThatAreNone) {
  for (const std::int64_t state : {std::int64_t{2}, std::int64_t{-2}}) {
    Model model = pair({0.1, 0.9, 0.2, 0.8, 0.3, 0.7});
    model.evidence.emplace("b", Integers({}, {state}));
    EXPECT_THROW((void)reduce(model), ValueError) << state;
    EXPECT_THROW((void)unroll(model), ValueError) << state;
  }
}

TEST(AbsorbEvidence, LeavesADistributionWhoseParentWasSeen) {
  Model model = pair({0.1, 0.9, 0.2, 0.8, 0.3, 0.7});
  model.evidence.emplace("a", Integers({}, {2}));
  const Reduction reduction = reduce(model);
  EXPECT_EQ(reduction.model.factors[1].values(), (std::vector<double>{0.3, 0.7}));
  EXPECT_TRUE(reduction.model.graph.factors()[1].distribution_of);
}

TEST(AbsorbEvidence, UnfoldsATiedFactorOverThePlateItWasSeenIn) {
  Model model;
  model.graph.plate("i", 3);
  model.graph.variable("x", 2, {});
  model.graph.variable("y", 2, {"i"});
  model.graph.factor("f", {"x", "y"}, {.tied = {"i"}});
  model.graph.output({});
  model.factors = {Tensor::of<double>({2, 2}, {1, 2, 3, 4})};
  model.children = {""};
  model.evidence.emplace("y", Integers({3}, {0, 1, 1}));
  const Reduction reduction = reduce(model);
  EXPECT_EQ(reduction.model.graph.equation(), "i x ->");
  EXPECT_EQ(reduction.model.factors[0].values(), (std::vector<double>{1, 3, 2, 4, 2, 4}));
}

TEST(AbsorbEvidence, LeavesSlicesThatWereNotSeenToTheRun) {
  Model model;
  model.graph.plate("i", 2);
  model.graph.variable("y", 2, {"i"});
  model.graph.factor("f", {"i", "y"});
  model.graph.output({});
  model.factors = {Tensor::of<double>({2, 2}, {1, 2, 3, 4})};
  model.children = {""};
  model.evidence.emplace("y", Integers({2}, {0, -1}));
  const Reduction reduction = reduce(model);
  EXPECT_TRUE(reduction.known.empty());
  EXPECT_EQ(reduction.model.evidence.size(), 1U);
}

TEST(AbsorbEvidence, RefusesAStateThatIsNone) {
  Model model = pair({0.1, 0.9, 0.2, 0.8, 0.3, 0.7});
  model.evidence.emplace("b", Integers({}, {2}));
  EXPECT_THROW((void)reduce(model), ValueError);
}

TEST(DropImpossible, FollowsZerosThroughTheModel) {
  // b = 1 was seen, which only a = 0 and a = 2 can explain; a third factor forbids a = 0 together with c = 1.
  Model model = pair({0.1, 0.9, 1, 0, 0.3, 0.7});
  model.graph = FactorGraph();
  model.graph.variable("a", 3);
  model.graph.variable("b", 2);
  model.graph.variable("c", 2);
  model.graph.factor("prior", {"a"});
  model.graph.factor("table", {"a", "b"});
  model.graph.factor("bound", {"a", "c"});
  model.graph.output({});
  model.factors.push_back(Tensor::of<double>({3, 2}, {0, 0, 1, 1, 0, 5}));
  model.children = {"", "", ""};
  model.evidence.emplace("b", Integers({}, {1}));
  const Reduction reduction = reduce(model);
  EXPECT_FALSE(reduction.impossible);
  EXPECT_EQ(reduction.kept.at(0), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(reduction.kept.at(2), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(reduction.model.factors[2].values(), (std::vector<double>{5}));
}

TEST(DropImpossible, SeesThatNothingIsPossible) {
  Model model = pair({1, 0, 1, 0, 1, 0});
  model.evidence.emplace("b", Integers({}, {1}));
  EXPECT_TRUE(reduce(model).impossible);
}

TEST(DropImpossible, ReadsLogarithms) {
  const double never = -std::numeric_limits<double>::infinity();
  Model model = pair({0, 0, 0, 0, never, never});
  model.space = Space::log;
  EXPECT_EQ(reduce(model).kept.at(0), (std::vector<std::int64_t>{0, 1}));
}

TEST(DropImpossible, KeepsADistributionThatLosesNoWeight) {
  Model model = pair({1, 0, 1, 0, 1, 0});
  const Reduction reduction = reduce(model);
  EXPECT_EQ(reduction.kept.at(1), (std::vector<std::int64_t>{0}));
  EXPECT_TRUE(reduction.model.graph.factors()[1].distribution_of);
}

TEST(DropImpossible, ReadsTheDiagonalOfARepeatedVariable) {
  Model model;
  model.graph.variable("a", 2);
  model.graph.factor("f", {"a", "a"});
  model.graph.output({});
  model.factors = {Tensor::of<double>({2, 2}, {0, 7, 7, 3})};
  model.children = {""};
  const Reduction reduction = reduce(model);
  EXPECT_EQ(reduction.kept.at(0), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(reduction.model.factors[0].values(), (std::vector<double>{3}));
}

}  // namespace
}  // namespace plated::reduce
