// Barren variables: exactly those that only their own conditional factor holds are dropped with it.
#include <gtest/gtest.h>

#include "planned.hpp"
#include "planner/problem.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

using test::names;
using test::plan_of;

/// A chain of conditional factors x0 → x1 → … , with the outputs given.
FactorGraph chain(int length, const std::vector<std::vector<std::string>>& outputs) {
  FactorGraph g;
  for (int v = 0; v < length; ++v) {
    const std::string name = "x" + std::to_string(v);
    g.variable(name, 2);
    std::vector<std::string> dims{name};
    if (v > 0) dims.insert(dims.begin(), "x" + std::to_string(v - 1));
    g.factor("p" + std::to_string(v), dims, {.distribution_of = name});
  }
  for (const auto& output : outputs) g.output(output);
  return g;
}

std::string dropped(const FactorGraph& g, std::set<std::string> without = {}, bool sums_only = true) {
  return names(g, plan_of(g, std::move(without), sums_only).problem.dropped);
}

TEST(DropBarren, TakesAWholeChain) {
  const FactorGraph g = chain(5, {{}});
  EXPECT_EQ(dropped(g), "x0x1x2x3x4");
  EXPECT_LE(plan_of(g, {}, true).steps.size(), 1U);
}

TEST(DropBarren, StopsAtWhatIsAskedFor) {
  EXPECT_EQ(dropped(chain(5, {{"x2"}})), "x3x4");
  EXPECT_EQ(dropped(chain(5, {{"x4"}})), "");
  EXPECT_EQ(dropped(chain(5, {{}, {"x1"}})), "x2x3x4");
}

TEST(DropBarren, StopsAtEvidence) {
  FactorGraph g = chain(5, {{}});
  g.factor("evidence", {"x2"});
  EXPECT_EQ(dropped(g), "x3x4");
}

TEST(DropBarren, NeedsSumsOnly) { EXPECT_EQ(dropped(chain(3, {{}}), {}, false), ""); }

TEST(DropBarren, CanBeLeftOut) { EXPECT_EQ(dropped(chain(3, {{}}), {"drop_barren"}), ""); }

TEST(DropBarren, KeepsAFactorThatIsADistributionOfAnotherVariable) {
  FactorGraph g;
  g.variable("x", 2);
  g.variable("y", 2);
  g.factor("p(y|x)", {"x", "y"}, {.distribution_of = "y"});
  g.factor("f(y)", {"y"});
  g.output({});
  EXPECT_EQ(dropped(g), "");  // x is held once, but p(y|x) does not sum to one over it
}

TEST(DropBarren, TakesAPlatedVariableInItsOwnPlates) {
  FactorGraph g;
  g.plate("i", 3);
  g.variable("x", 2);
  g.variable("y", 2, {"i"});
  g.factor("p(x)", {"x"});
  g.factor("p(y|x)", {"i", "x", "y"}, {.distribution_of = "y"});
  g.output({});
  EXPECT_EQ(dropped(g), "y");
}

TEST(DropBarren, KeepsAVariableWhoseFactorIsInAPlateThatItIsNotIn) {
  // ∏_i p_i(y) is a product of distributions, and no distribution.
  FactorGraph g;
  g.plate("i", 3);
  g.variable("y", 2, {});
  g.factor("p(y)", {"i", "y"}, {.distribution_of = "y"});
  g.output({});
  EXPECT_EQ(dropped(g), "");
}

TEST(DropBarren, CountsTheParentsThatItLeavesAlone) {
  // Σ_x Σ_y p(y|x) = |dom x|: x gets a factor of ones.
  FactorGraph g;
  g.variable("x", 3);
  g.variable("y", 2);
  g.factor("p(y|x)", {"x", "y"}, {.distribution_of = "y"});
  g.output({});
  EXPECT_EQ(names(g, plan_of(g, {}, true).problem.dropped), "y");
  const planner::Problem problem = planner::read_problem(g, {.sums_only = true}, {});
  ASSERT_EQ(problem.factors.size(), 1U);
  EXPECT_EQ(problem.factors[0].operand, -1);
  EXPECT_EQ(names(g, problem.factors[0].variables), "x");
}

TEST(DropBarren, KeepsAnEmptyDomainWhoseSumIsZero) {
  FactorGraph g;
  g.variable("x", 0);
  g.factor("p(x)", {"x"}, {.distribution_of = "x", .trusted = true});
  g.output({});
  EXPECT_EQ(dropped(g), "");
}

TEST(DropBarren, TurnsAnIntractableGraphIntoATractableOne) {
  FactorGraph g;
  g.plate("i", 2);
  g.plate("j", 2);
  g.variable("x", 2, {"i"});
  g.variable("y", 2, {"j"});
  g.variable("z", 2, {"i", "j"});
  g.factor("p(x)", {"i", "x"}, {.distribution_of = "x"});
  g.factor("p(y)", {"j", "y"}, {.distribution_of = "y"});
  g.factor("p(z|x,y)", {"i", "j", "x", "y", "z"}, {.distribution_of = "z"});
  g.output({});
  EXPECT_THROW((void)plan_of(g), IntractableError);
  EXPECT_NO_THROW((void)plan_of(g, {}, true));
}

}  // namespace
}  // namespace plated
