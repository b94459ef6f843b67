// Kept runs: questions that start from the values of a forward run.
#include "engine/kept.hpp"

#include <gtest/gtest.h>

#include "adjoint/backtrace.hpp"
#include "adjoint/questions.hpp"
#include "engine/runnable.hpp"
#include "planner/planner.hpp"
#include "property/random_tensor.hpp"

namespace plated {
namespace {

/// The forward part of a question's schedule, as it would be planned by itself.
planner::Schedule forward_of(const FactorGraph& graph) {
  planner::Schedule forward = planner::plan(graph, {.keep_sums = true});
  forward.reuses_buffers = false;
  return forward;
}

class EngineKept : public testing::TestWithParam<int> {
 protected:
  EngineKept() {
    const test::Model& m = model;
    forward = forward_of(m.graph);
    gradient = adjoint::gradient_schedule(adjoint::forward(m.graph, {}), 1,
                                          {.wanted = std::vector<bool>(m.graph.factors().size(), true)});
    gradient.forward_steps = forward.steps.size();
    operands = m.operands;
    operands.push_back(Tensor::of<double>({}, {1}));
    outputs.push_back(engine::shape_only(Dtype::float64, {}));
    for (const Tensor& t : m.operands) outputs.push_back(engine::shape_only(Dtype::float64, t.shape()));
  }
  [[nodiscard]] engine::Settings settings() const { return {.semiring = Semiring::log, .threads = GetParam()}; }

  test::Model model = test::paper_model(3, 5, Dtype::float64, Semiring::log);
  planner::Schedule forward, gradient;
  std::vector<Tensor> operands, outputs;
};

TEST_P(EngineKept, AnswersLikeAWholeRun) {
  engine::Workspace whole, rest;
  const std::vector<Tensor> want = engine::run_allocating(gradient, outputs, operands, whole, settings());
  const engine::Kept kept(forward, forward.extents, {outputs[0]}, model.operands, settings());
  EXPECT_EQ(kept.outputs()[0].item(), want[0].item());
  engine::Settings with = settings();
  with.kept = &kept;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const std::vector<Tensor> got = engine::run_allocating(gradient, outputs, operands, rest, with);
    ASSERT_EQ(got.size(), want.size());
    EXPECT_EQ(got[0].data(), kept.outputs()[0].data()) << "the value was written again";
    for (std::size_t k = 0; k < want.size(); ++k) EXPECT_EQ(got[k].values(), want[k].values()) << "output " << k;
  }
  EXPECT_EQ(rest.bound.steps.size(), gradient.steps.size() - forward.steps.size());
}

TEST_P(EngineKept, IsNotMixedUpWithAWholeRunInOneWorkspace) {
  engine::Workspace workspace;
  const engine::Kept kept(forward, forward.extents, {outputs[0]}, model.operands, settings());
  engine::Settings with = settings();
  with.kept = &kept;
  const std::vector<Tensor> first = engine::run_allocating(gradient, outputs, operands, workspace, with);
  const std::vector<Tensor> whole = engine::run_allocating(gradient, outputs, operands, workspace, settings());
  const std::vector<Tensor> again = engine::run_allocating(gradient, outputs, operands, workspace, with);
  for (std::size_t k = 0; k < whole.size(); ++k) {
    EXPECT_EQ(first[k].values(), whole[k].values()) << "output " << k;
    EXPECT_EQ(again[k].values(), whole[k].values()) << "output " << k;
  }
}

TEST_P(EngineKept, ServesBacktraces) {
  // More slices than a block has.
  const test::Model deep("a,iab,ib->", {{3}, {150, 3, 4}, {150, 4}}, "i", Dtype::float64, Semiring::max_plus);
  const planner::Schedule schedule = forward_of(deep.graph);
  const engine::Settings best{.semiring = Semiring::max_plus, .threads = GetParam()};
  const engine::Kept kept(schedule, schedule.extents, {outputs[0]}, deep.operands, best);
  engine::Workspace workspace;
  (void)engine::run_allocating(schedule, {outputs[0]}, deep.operands, workspace, best);
  const auto states = [&](const engine::Workspace& values) {
    std::vector<Integers> assignment(schedule.problem.domain.size());
    for (DimId v = 0; v < assignment.size(); ++v) {
      const bool plated = deep.graph.dims()[v].name == "b";
      assignment[v].shape = plated ? std::vector<std::int64_t>{150} : std::vector<std::int64_t>{};
      assignment[v].values.assign(plated ? 150 : 1, -1);
    }
    adjoint::backtrace(schedule, Semiring::max_plus, deep.operands, values, {}, GetParam(), assignment);
    std::vector<std::int64_t> all;
    for (const Integers& variable : assignment) {
      all.insert(all.end(), variable.values.begin(), variable.values.end());
    }
    return all;
  };
  EXPECT_FALSE(kept.workspace().bound.blocked.empty());
  EXPECT_EQ(states(kept.workspace()), states(workspace));
}

INSTANTIATE_TEST_SUITE_P(Threads, EngineKept, testing::Values(1, 2));

}  // namespace
}  // namespace plated
