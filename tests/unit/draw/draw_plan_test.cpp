// Pictures of compiled plans, with and without chains.
#include <gtest/gtest.h>

#include "plated/plan.hpp"
#include "unit/draw/models.hpp"
#include "unit/draw/read_svg.hpp"

namespace plated::test {
namespace {

TEST(DrawPlan, ShowsEveryStepOfThePlan) {
  FactorGraph g = performance_model();
  g.output({});
  const Plan plan = compile(g);
  const Document document = read_svg(draw_plan_svg(plan, {.title = "the plan"}));
  EXPECT_EQ(document.error, "");
  EXPECT_EQ(document.with_class("plan-step").size() + document.with_class("plan-output").size(), plan.steps());
  EXPECT_EQ(document.with_class("title").at(0).text, "the plan");
  EXPECT_EQ(draw_plan_svg(plan), draw_plan_svg(compile(g)));
}

TEST(DrawPlan, AChainIsAPanelOfItsOwn) {
  FactorGraph g = hidden_markov_model();
  g.output({});
  const Plan plan = compile(g);
  const Document document = read_svg(draw_plan_svg(plan));
  EXPECT_EQ(document.error, "");
  const auto headings = document.with_class("panel-heading");
  ASSERT_GE(headings.size(), 2u);
  EXPECT_EQ(headings.front().text, "all steps; chains are scans, whose slices are shown below");
  EXPECT_EQ(headings.back().text, "chain t = 100 slices, links a→b");
  bool repeated = false;
  for (const auto& remark : document.with_class("panel-remark"))
    repeated |= remark.text.rfind("each slice (100 times)", 0) == 0;
  EXPECT_TRUE(repeated);
  EXPECT_EQ(document.with_class("plan-step").size() + document.with_class("plan-output").size(), plan.steps());
}

TEST(DrawPlan, EndsInsideSlicesAreDrawn) {
  FactorGraph g = second_order_chain();
  g.output({});
  EXPECT_EQ(read_svg(draw_plan_svg(compile(g))).error, "");
}

TEST(DrawPlan, SaysWhatWasDropped) {
  FactorGraph g;
  g.variable("a", 2);
  g.variable("b", 2);
  g.factor("f", {"a", "b"}, {.distribution_of = "b"});
  g.output({"a"});
  const Document document = read_svg(draw_plan_svg(compile(g, {.sums_only = true})));
  bool said = false;
  for (const auto& remark : document.with_class("panel-remark")) said |= remark.text == "dropped as barren: b";
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace plated::test
