// Several outputs of one graph: shared work is done once.
#include <gtest/gtest.h>

#include "planned.hpp"

namespace plated {
namespace {

using planner::Schedule;
using planner::Step;
using planner::Value;
using test::cost_of;
using test::graph_of;
using test::names;
using test::plan_of;
using test::row;

std::vector<std::vector<std::string>> all_marginals(int variables) {
  std::vector<std::vector<std::string>> outputs;
  for (int v = 0; v < variables; ++v) outputs.push_back({"v" + std::to_string(v)});
  return outputs;
}

TEST(ShareSteps, AllMarginalsOfARowCostLessThanFourTimesItsPartitionFunction) {
  for (const std::int64_t domain : {2, 8, 32}) {
    const double partition = cost_of(plan_of(row(50, {{}}, domain))).flops;
    const double marginals = cost_of(plan_of(row(50, all_marginals(50), domain))).flops;
    EXPECT_LT(marginals, 4 * partition) << "domain " << domain;
  }
}

TEST(ShareSteps, TakesFewerStepsAndFlopsThanSeparatePlans) {
  for (const auto& [equation, plates] :
       std::vector<std::pair<std::string, std::string>>{{"ab,bc,cd,de->a,b,c,d,e", ""},
                                                        {"a,abi,bcij,adj,deij->a,bi,cij,dj,eij,", "ij"},
                                                        {"a,ab,b,bc,c,cd->a,b,c,d,", ""}}) {
    const FactorGraph together = graph_of(equation, plates);
    const Schedule shared = plan_of(together);
    double flops = 0;
    std::size_t steps = 0;
    for (const Output& output : together.outputs()) {
      const std::string alone = equation.substr(0, equation.find("->") + 2) + names(together, output.dims);
      const Schedule schedule = plan_of(alone, plates);
      flops += cost_of(schedule).flops;
      steps += schedule.steps.size();
    }
    EXPECT_LT(shared.steps.size(), steps) << equation;
    EXPECT_LT(cost_of(shared).flops, flops) << equation;
  }
}

TEST(ShareSteps, LeftOutRepeatsThem) {
  const FactorGraph g = graph_of("a,abi,bcij,adj,deij->cij,eij,bi", "ij");
  EXPECT_GT(plan_of(g, {"share_steps"}).steps.size(), plan_of(g).steps.size());
}

TEST(ShareSteps, WritesNoStepTwice) {
  const Schedule schedule = plan_of(graph_of("a,abi,bcij,adj,deij->a,bi,cij,dj,eij,", "ij"), {"fuse_elementwise"});
  std::set<std::tuple<std::size_t, std::vector<planner::ValueId>, std::vector<DimId>, std::vector<DimId>>> seen;
  for (const Step& step : schedule.steps) {
    if (schedule.values[step.output].kind == Value::Kind::output) continue;
    EXPECT_TRUE(seen.insert({step.operation.index(), step.inputs, summed(step), multiplied(step)}).second);
  }
}

TEST(Outputs, TheSameOutputTwiceIsComputedOnce) {
  const Schedule once = plan_of("ab,bc->ac");
  const Schedule twice = plan_of("ab,bc->ac,ca");
  EXPECT_LE(cost_of(twice).flops, 1.5 * cost_of(once).flops);
  std::size_t delivered = 0;
  for (const Step& step : twice.steps) delivered += twice.values[step.output].kind == Value::Kind::output ? 1 : 0;
  EXPECT_EQ(delivered, 2U);
}

TEST(Outputs, HaveTheirAxesInTheOrderWritten) {
  const Schedule schedule = plan_of("abc->ca,ac", "");
  std::vector<std::string> axes(2);
  for (const Step& step : schedule.steps) {
    const Value& value = schedule.values[step.output];
    if (value.kind == Value::Kind::output) axes[value.index] = names(schedule.graph, value.dims);
  }
  EXPECT_EQ(axes, (std::vector<std::string>{"ca", "ac"}));
}

TEST(Outputs, APlateWithoutVariablesIsABroadcast) {
  const Schedule schedule = plan_of("ix->i", "i");
  const Step& last = schedule.steps.back();
  EXPECT_EQ(names(schedule.graph, schedule.values[last.output].dims), "i");
  for (const planner::ValueId v : last.inputs) EXPECT_TRUE(schedule.values[v].dims.empty());
}

TEST(Outputs, NoneAtAllPlansNothing) {
  FactorGraph g;
  g.variable("x", 2);
  g.factor("f", {"x"});
  EXPECT_TRUE(plan_of(g).steps.empty());
}

TEST(Outputs, OneOfAnEmptyDomainIsNotComputed) {
  EXPECT_TRUE(plan_of(graph_of("ix->ix", "i", {{"x", 0}})).steps.empty());
}

TEST(Outputs, ThePlanDoesNotDependOnWhetherAPlateIsEmpty) {
  const auto steps = [](std::int64_t size) { return plan_of(graph_of("ix->ix", "i", {{"i", size}})).steps.size(); };
  EXPECT_EQ(steps(0), steps(7));
  EXPECT_EQ(steps(1), steps(7));
}

}  // namespace
}  // namespace plated
