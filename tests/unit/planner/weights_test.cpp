// Weighted plates in a schedule: what is raised, by which numbers, and what is counted instead of multiplied.
#include <gtest/gtest.h>

#include "planned.hpp"
#include "planner/print_schedule.hpp"

namespace plated {
namespace {

using planner::Raise;
using planner::Schedule;
using planner::Step;
using test::graph_of;
using test::names;

/// The plan of a graph whose plates have weights over the dims named, the plate itself last.
Schedule weighted(const FactorGraph& graph, const std::vector<std::string>& weights) {
  planner::Options options;
  for (const std::string& axes : weights) {
    std::vector<DimId> dims;
    for (const char c : axes) dims.push_back(*graph.find(std::string(1, c)));
    options.weights[dims.back()] = dims;
  }
  return planner::plan(graph, options);
}

std::vector<const Step*> raises(const Schedule& schedule) {
  std::vector<const Step*> steps;
  for (const Step& step : schedule.steps) {
    if (step.is<Raise>()) steps.push_back(&step);
  }
  return steps;
}

using Shapes = std::vector<std::vector<std::int64_t>>;

std::string dims(const Schedule& schedule, planner::ValueId value) {
  return names(schedule.graph, base::sorted(schedule.values[value].dims));
}

TEST(WeightedPlates, RaiseTheSumOfASliceBeforeItsProduct) {
  const Schedule schedule = weighted(graph_of("x,ixy->", "i"), {"i"});
  ASSERT_EQ(schedule.operands.size(), 3U) << "the factors, then the weights";
  ASSERT_EQ(raises(schedule).size(), 1U);
  const Step& raise = *raises(schedule)[0];
  EXPECT_EQ(dims(schedule, raise.inputs[0]), dims(schedule, raise.output)) << "y is summed, i is not yet multiplied";
  EXPECT_EQ(schedule.values[raise.inputs[1]].index, 2U);
  EXPECT_EQ(raise.as<Raise>()->less, 0);
  EXPECT_NE(planner::print_schedule(schedule).find("weights of i)"), std::string::npos);
}

TEST(WeightedPlates, AreRaisedOnceWhereTwoAreMultipliedTogether) {
  const Schedule schedule = weighted(graph_of("x,ijxy->", "ij"), {"i", "ij"});
  ASSERT_EQ(raises(schedule).size(), 1U);
  EXPECT_EQ(raises(schedule)[0]->inputs.size(), 3U);
}

TEST(WeightedPlates, CountTheSlicesOfWhatIsTied) {
  // Neither factor has an axis for j: its weights are added up for each i, which the value gains by that.
  const FactorGraph graph = FactorGraph::from_equation("x,i(j)xy,ix->", Shapes{{2}, {3, 2, 2}, {3, 2}},
                                                       {.plates = "ij", .sizes = {{"j", 4}}, .spaced = false});
  const Schedule schedule = weighted(graph, {"ij"});
  ASSERT_EQ(raises(schedule).size(), 1U);
  const Step& raise = *raises(schedule)[0];
  EXPECT_EQ(dims(schedule, raise.inputs[1]), "i");
  EXPECT_EQ(schedule.values[raise.inputs[1]].kind, planner::Value::Kind::intermediate);
  for (const Step& step : schedule.steps) {
    const auto* contract = step.as<planner::Contract>();
    EXPECT_TRUE(contract == nullptr || contract->power.plates.empty());
  }
}

TEST(WeightedPlates, LeaveTheOtherCopiesOfAnOutputsSlice) {
  const Schedule schedule = weighted(graph_of("x,ixy->iy,x", "i"), {"i"});
  std::vector<int> less;
  for (const Step* step : raises(schedule)) less.push_back(step->as<Raise>()->less);
  EXPECT_EQ(less, (std::vector{0, 1}));
}

TEST(WeightedPlates, OfOneSliceAreNotDropped) {
  const FactorGraph graph = graph_of("x,ixy->", "i", {{"i", 1}});
  planner::Options options;
  options.fixed_sizes = true;
  EXPECT_TRUE(raises(planner::plan(graph, options)).empty());
  options.weights[*graph.find("i")] = {*graph.find("i")};
  EXPECT_EQ(raises(planner::plan(graph, options)).size(), 1U);
}

TEST(WeightedPlates, ThatNothingIsInChangeNoStep) {
  const FactorGraph graph = FactorGraph::from_equation("x,ixy->", Shapes{{2}, {3, 2, 2}},
                                                       {.plates = "ij", .sizes = {{"j", 4}}, .spaced = false});
  const Schedule plain = planner::plan(graph, {});
  EXPECT_EQ(planner::print_schedule(weighted(graph, {"j"})), planner::print_schedule(plain));
}

}  // namespace
}  // namespace plated
