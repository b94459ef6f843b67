// The graph as Algorithm 1 sees it, simplified: size-1 dims, empty plates, outputs and variables of no factor.
#include "planner/problem.hpp"

#include <gtest/gtest.h>

#include "planned.hpp"
#include "plated/error.hpp"

namespace plated::planner {
namespace {

using test::graph_of;
using test::names;
using test::plan_of;

Problem problem_of(const FactorGraph& graph, std::set<std::string> without = {}) {
  return read_problem(graph, {.fixed_sizes = true}, without);
}

FactorGraph rbm(std::int64_t i, std::int64_t j, std::int64_t x = 2) {
  FactorGraph g;
  g.plate("i", i);
  g.plate("j", j);
  g.variable("x", x, {"i"});
  g.variable("y", 2, {"j"});
  g.factor("F", {"i", "j", "x", "y"});
  g.output({});
  return g;
}

TEST(DropUnitDims, MakesTheRbmWithOneVisibleUnitTractable) {
  EXPECT_THROW((void)plan_of(rbm(2, 2)), IntractableError);
  EXPECT_NO_THROW((void)plan_of(rbm(1, 2)));
  EXPECT_NO_THROW((void)plan_of(rbm(2, 1)));
  EXPECT_NO_THROW((void)plan_of(rbm(2, 2, 1)));  // a variable with one state is no variable
}

TEST(DropUnitDims, LeftOutChangesTheVerdictBack) {
  EXPECT_THROW((void)plan_of(rbm(1, 2), {"drop_unit_dims"}), IntractableError);
  EXPECT_THROW((void)plan_of(rbm(2, 2, 1), {"drop_unit_dims"}), IntractableError);
}

TEST(DropUnitDims, TakesThemFromFactorsVariablesAndOutputs) {
  const FactorGraph g = graph_of("aix->xi", "i", {{"a", 1}, {"i", 1}});
  const Problem problem = problem_of(g);
  EXPECT_EQ(names(g, problem.factors[0].variables), "x");
  EXPECT_EQ(names(g, problem.factors[0].plates), "");
  EXPECT_EQ(names(g, problem.factors[0].carried), "x");
  EXPECT_EQ(names(g, problem.outputs[0].plates), "");
  const Problem kept = problem_of(g, {"drop_unit_dims"});
  EXPECT_EQ(names(g, kept.factors[0].carried), "aix");
  EXPECT_EQ(names(g, kept.outputs[0].plates), "i");
}

TEST(EmptyPlates, TakeTheirFactorsAndVariablesWithThem) {
  const FactorGraph g = graph_of("x,ixy->", "i", {{"i", 0}});
  const Problem problem = problem_of(g);
  ASSERT_EQ(problem.factors.size(), 1U);
  EXPECT_EQ(names(g, problem.factors[0].variables), "x");
}

TEST(EmptyPlates, TakeAVariableWhoseDomainIsEmptyToo) {
  const FactorGraph g = graph_of("iy->", "i", {{"i", 0}, {"y", 0}});
  EXPECT_TRUE(problem_of(g).factors.empty());
}

TEST(EmptyPlates, MakeAnOutputThatHoldsThemEmpty) {
  const FactorGraph g = graph_of("ix,y->ix,y", "i", {{"i", 0}});
  const Problem problem = problem_of(g);
  EXPECT_TRUE(problem.outputs[0].empty);
  EXPECT_FALSE(problem.outputs[1].empty);
}

TEST(EmptyPlates, CannotMakeAGraphIntractable) {
  EXPECT_NO_THROW((void)plan_of(rbm(0, 2)));
  EXPECT_NO_THROW((void)plan_of(rbm(0, 0)));
}

TEST(ReadProblem, KnowsNoSizesOfPlatesUnlessTheyAreFixed) {
  const FactorGraph g = graph_of("aix,jy->xi", "ij", {{"a", 1}, {"i", 1}, {"j", 0}});
  const Problem problem = read_problem(g, {}, {});
  EXPECT_EQ(problem.factors.size(), 2U);
  EXPECT_EQ(names(g, problem.factors[0].carried), "ix");
  EXPECT_EQ(names(g, problem.outputs[0].plates), "i");
  EXPECT_EQ(names(g, problem.absent), "a");
  EXPECT_TRUE(problem.fixed.empty());
  EXPECT_EQ(names(g, problem_of(g).fixed), "ij");
}

TEST(ReadProblem, GivesAVariableOfNoFactorAFactorOfOnes) {
  FactorGraph g;
  g.plate("i", 3);
  g.variable("x", 2, {"i"});
  g.output({});
  const Problem problem = problem_of(g);
  ASSERT_EQ(problem.factors.size(), 1U);
  EXPECT_EQ(problem.factors[0].operand, -1);
  EXPECT_EQ(names(g, problem.factors[0].plates), "i");
  EXPECT_EQ(names(g, problem.factors[0].carried), "x");
}

TEST(ReadProblem, KeepsTiedPlatesOutOfWhatIsCarried) {
  FactorGraph g;
  g.plate("i", 3);
  g.variable("x", 2);
  g.factor("f", {"x"}, {.tied = {"i"}});
  g.output({});
  const Problem problem = problem_of(g);
  EXPECT_EQ(names(g, problem.factors[0].plates), "i");
  EXPECT_EQ(names(g, problem.factors[0].carried), "x");
}

TEST(Outputs, HaveThePlatesOfTheirVariablesAndBroadcastTheOthers) {
  const FactorGraph g = graph_of("ix,j->jx,i", "ij");
  const Problem problem = problem_of(g);
  EXPECT_EQ(names(g, problem.outputs[0].plates), "");  // x is not in i: the output holds it outside
  EXPECT_EQ(names(g, problem.outputs[1].plates), "");
}

TEST(Outputs, AreNotFactors) {
  const Schedule schedule = plan_of("ix,jy->ijxy", "ij");
  EXPECT_EQ(test::names(schedule.graph, schedule.values.back().dims), "ijxy");
}

}  // namespace
}  // namespace plated::planner
