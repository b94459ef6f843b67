// Blocks of runs: what is bound in blocks, which loops a limit makes of it, and what runs are said to need.
#include "engine/blocking.hpp"

#include <gtest/gtest.h>

#include "adjoint/questions.hpp"
#include "engine/phases.hpp"
#include "engine/predict.hpp"
#include "engine/runnable.hpp"
#include "planner/planner.hpp"
#include "plated/plan.hpp"
#include "property/random_tensor.hpp"

namespace plated::engine {
namespace {

const test::Model small_model = test::paper_model(4, 8, Dtype::float64, Semiring::log);

planner::Schedule gradient_of(const FactorGraph& graph) {
  return adjoint::gradient_schedule(adjoint::forward(graph, {}), graph.outputs().size(),
                                    {.wanted = std::vector<bool>(graph.factors().size(), true)});
}

std::vector<Tensor> shapes(const std::vector<std::vector<DimId>>& axes, const planner::Extents& extents, Dtype dtype) {
  std::vector<Tensor> list;
  for (const std::vector<DimId>& dims : axes) {
    Tensor::Shape shape;
    for (const DimId d : dims) shape.push_back(extents[d]);
    list.push_back(shape_only(dtype, std::move(shape)));
  }
  return list;
}

BoundSchedule bound(const planner::Schedule& schedule, const planner::Extents& extents, std::int64_t limit = 0) {
  return bind(schedule, extents, shapes(schedule.outputs, extents, Dtype::float32),
              shapes(schedule.operands, extents, Dtype::float32), {.limit = limit, .threads = 2});
}

planner::Extents with_plates(const FactorGraph& graph, std::int64_t slices) {
  planner::Extents extents = planner::extents_of(graph);
  for (DimId d = 0; d < extents.size(); ++d) {
    if (graph.dims()[d].kind == DimKind::plate) extents[d] = slices;
  }
  return extents;
}

TEST(Blocking, LeavesSmallRunsAlone) {
  const planner::Schedule schedule = gradient_of(small_model.graph);
  EXPECT_TRUE(bound(schedule, schedule.extents).blocked.empty());
  EXPECT_FALSE(bound(schedule, with_plates(schedule.graph, 512)).blocked.empty());
}

TEST(Blocking, DoesNotDependOnTheLimit) {
  const planner::Schedule schedule = gradient_of(small_model.graph);
  const planner::Extents extents = with_plates(schedule.graph, 500);
  const BoundSchedule whole = bound(schedule, extents);
  const BoundSchedule cut = bound(schedule, extents, 1);
  EXPECT_TRUE(whole.loops.empty());
  ASSERT_FALSE(cut.loops.empty());
  EXPECT_LT(cut.bytes(2), whole.bytes(2) / 4);
  ASSERT_EQ(cut.blocked.size(), whole.blocked.size());
  for (std::size_t k = 0; k < cut.blocked.size(); ++k) {
    EXPECT_EQ(cut.blocked[k].blocks.size, whole.blocked[k].blocks.size);
  }
  EXPECT_EQ(cut.kernels.size(), whole.kernels.size());
}

TEST(Blocking, TakesWhatItIsGiven) {
  const planner::Schedule schedule = gradient_of(small_model.graph);
  const planner::Extents extents = with_plates(schedule.graph, 500);
  const std::int64_t all = bound(schedule, extents).bytes(2), least = bound(schedule, extents, 1).bytes(2);
  for (std::int64_t limit = least; limit <= all; limit += (all - least) / 7) {
    const BoundSchedule some = bound(schedule, extents, limit);
    EXPECT_LE(some.bytes(2), limit);
  }
  EXPECT_TRUE(bound(schedule, extents, all).loops.empty());
}

TEST(Binding, SharesKernelsOfEqualShapes) {
  // A chain of matrices: steps of equal shapes share their kernels.
  const std::vector<std::vector<std::int64_t>> sizes(9, {2, 2});
  const FactorGraph graph = FactorGraph::from_equation("ab,bc,cd,de,ef,fg,gh,hk,kl->", sizes, {});
  const planner::Schedule schedule = gradient_of(graph);
  const BoundSchedule one = bound(schedule, schedule.extents);
  EXPECT_EQ(one.steps.size(), schedule.steps.size());
  EXPECT_LT(one.kernels.size(), schedule.steps.size() / 2);
}

TEST(Blocking, IsKeptByRunsOnOtherMemory) {
  const test::Model model("iab,ib->", {{3000, 6, 8}, {3000, 8}}, "i", Dtype::float64, Semiring::log);
  const planner::Schedule schedule = planner::plan(model.graph, {.keep_sums = true});
  const std::vector<Tensor> outputs{Tensor(Dtype::float64, {})};
  Workspace whole, cut;
  least_blocked_bytes = 0;
  run(schedule, outputs, model.operands, whole, {.semiring = Semiring::log});
  const double want = outputs[0].item();
  prepare(schedule, outputs, model.operands, cut, {.semiring = Semiring::log, .memory_limit = whole.bytes() / 2});
  least_blocked_bytes = 2 << 20;
  EXPECT_FALSE(cut.bound.loops.empty());
  double got = 0;
  void* const output = &got;
  const std::vector<const void*> operands{model.operands[0].data(), model.operands[1].data()};
  run_prepared(cut, std::span(&output, 1), operands, 1);
  EXPECT_EQ(got, want);
}

TEST(Phases, RepeatForwardValuesInTheLoopOfTheSweep) {
  const planner::Schedule schedule = gradient_of(small_model.graph);
  const planner::Extents extents = with_plates(schedule.graph, 500);
  const BoundSchedule cut = bound(schedule, extents, 1);
  EXPECT_GT(cut.steps.size(), schedule.steps.size());
  for (const BoundLoop& loop : cut.loops) EXPECT_EQ(loop.chunk, 1);
}

TEST(Phases, AreNotMadeOfSchedulesThatAddToWhatHasBeenRead) {
  planner::Schedule schedule = gradient_of(small_model.graph);
  EXPECT_TRUE(can_repeat_steps({.schedule = schedule}));
  schedule.steps.push_back(schedule.steps.front());
  EXPECT_FALSE(can_repeat_steps({.schedule = schedule}));
}

TEST(RunBytes, AreWhatARunTakes) {
  for (const std::int64_t slices : {8, 200}) {
    const test::Model model = test::paper_model(8, slices, Dtype::float64, Semiring::log);
    const planner::Schedule schedule = gradient_of(model.graph);
    const std::int64_t said = predict(schedule, schedule.extents, {.dtype = Dtype::float64, .threads = 2}).bytes;
    std::vector<Tensor> operands = model.operands;
    operands.push_back(Tensor::of<double>({}, {1}));
    Workspace workspace;
    const std::vector<Tensor> outputs =
        run_allocating(schedule, shapes(schedule.outputs, schedule.extents, Dtype::float64), operands, workspace,
                       {.semiring = Semiring::log, .threads = 2});
    std::int64_t taken = workspace.bytes();
    for (const Tensor& output : outputs) taken += output.elements() * 8;
    EXPECT_GE(said, taken);
    EXPECT_GE(static_cast<double>(taken), 0.9 * static_cast<double>(said));
  }
}

TEST(RunBytes, AreTheLeastLimitThatCutsNothing) {
  const test::Model model = test::paper_model(8, 100, Dtype::float64, Semiring::log);
  const Plan plan = compile(model.graph);
  const Cost cost = plan.cost({}, {}, Dtype::float64);
  EXPECT_GE(cost.run_bytes, cost.peak_bytes);
  const std::vector<Tensor> want = plan.run(model.operands);
  EXPECT_EQ(plan.run(model.operands, {.memory_limit = cost.run_bytes})[0].item(), want[0].item());
}

TEST(PrintedLoops, AreThoseThatALimitMakes) {
  const test::Model model = test::paper_model(8, 256, Dtype::float32, Semiring::log);
  const Plan plan = compile(model.graph);
  const Question gradient{.kind = Question::Kind::gradient};
  const std::int64_t whole = plan.cost(gradient, {}, Dtype::float32).run_bytes;
  EXPECT_EQ(plan.print(gradient, whole), plan.print(gradient));
  std::int64_t answers = 8;
  for (const Tensor& operand : model.operands) answers += operand.elements() * 4;
  const std::string cut = plan.print(gradient, whole - (whole - answers) / 2);
  EXPECT_NE(cut.find("loops over i, "), std::string::npos) << cut;
  EXPECT_NE(plan.print(gradient, answers).find("refused: needs "), std::string::npos);
}

}  // namespace
}  // namespace plated::engine
