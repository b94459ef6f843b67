// Repairs: the cost of unrolling plates of the certificate, cheapest first.
#include <gtest/gtest.h>

#include "planned.hpp"
#include "planner/schedule_cost.hpp"
#include "plated/error.hpp"
#include "plated/plan.hpp"

namespace plated {
namespace {

FactorGraph rbm(std::int64_t visible, std::int64_t hidden) {
  FactorGraph g;
  g.plate("i", visible);
  g.plate("j", hidden);
  g.variable("x", 2);
  g.variable("y", 2);
  g.factor("x bias", {"i", "x"});
  g.factor("y bias", {"j", "y"});
  g.factor("weights", {"i", "j", "x", "y"});
  g.output({});
  return g;
}

IntractableError error_of(const FactorGraph& graph) {
  try {
    (void)test::plan_of(graph);
  } catch (const IntractableError& error) {
    return error;
  }
  ADD_FAILURE() << "tractable:\n" << graph.print();
  return {"", {}};
}

TEST(Repairs, UnrollTheSmallerPlateFirst) {
  const IntractableError error = error_of(rbm(9, 4));
  ASSERT_EQ(error.repairs().size(), 2U);
  EXPECT_EQ(error.repairs()[0].unroll, std::vector<std::string>{"j"});
  EXPECT_EQ(error.repairs()[1].unroll, std::vector<std::string>{"i"});
  EXPECT_LT(error.repairs()[0].flops, error.repairs()[1].flops);
  EXPECT_NE(std::string(error.what()).find("Unrolling plate 'j' would cost"), std::string::npos) << error.what();
}

TEST(Repairs, CostWhatThePlanOfTheUnrolledGraphCosts) {
  const FactorGraph graph = rbm(3, 40);
  const Repair repair = error_of(graph).repairs().at(0);
  ASSERT_EQ(repair.unroll, std::vector<std::string>{"i"});
  planner::Options greedy;
  greedy.order.strategy = planner::Strategy::greedy;
  const planner::Schedule unrolled = planner::plan(graph.unroll("i").graph, greedy);
  const Cost cost = planner::schedule_cost(unrolled, unrolled.extents, Semiring::log, 4);
  EXPECT_EQ(repair.flops, cost.flops);
  EXPECT_EQ(repair.peak_bytes, cost.peak_bytes);
}

TEST(Repairs, SayWhereTheUnrolledModelWouldBeTooLarge) {
  const IntractableError error = error_of(rbm(1000000, 1000000));
  EXPECT_TRUE(error.repairs().empty());
  EXPECT_NE(std::string(error.what()).find("too large to plan"), std::string::npos) << error.what();
}

TEST(Repairs, AreNotOfferedWhereOtherPlatesAreEntangledAsWell) {
  // Two pairs of plates, each entangled by itself: whichever pair is named, unrolling it leaves the other.
  FactorGraph g = rbm(2, 2);
  g.plate("k", 2);
  g.plate("l", 2);
  g.variable("u", 2);
  g.variable("v", 2);
  g.factor("u bias", {"k", "u"});
  g.factor("v bias", {"l", "v"});
  g.factor("more weights", {"k", "l", "u", "v"});
  const IntractableError error = error_of(g);
  EXPECT_TRUE(error.repairs().empty());
  EXPECT_NE(std::string(error.what()).find("others are entangled"), std::string::npos) << error.what();
}

TEST(Repairs, ArePricedWhereFactorsAreOnVariablesOfOneSliceOfAChain) {
  FactorGraph g = rbm(2, 2);
  g.chain("t", 3);
  for (const char* name : {"a", "b", "w"}) g.variable(name, 2);
  g.link("t", "a", "b");
  g.factor("transition", {"a", "b"}, {.tied = {"t"}});
  g.factor("seen", {"t", "b", "w"});
  g.factor("at last", {last("w")});
  try {
    (void)compile(g);
    FAIL() << "tractable";
  } catch (const IntractableError& error) {
    EXPECT_EQ(error.repairs().size(), 2U) << error.what();
  }
}

}  // namespace
}  // namespace plated
