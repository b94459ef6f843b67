// Workspaces: reused and renewed bindings, growing memory, limits.
#include <gtest/gtest.h>

#include <limits>

#include "engine/run.hpp"
#include "planner/passes.hpp"
#include "planner/planner.hpp"
#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "plated/plan.hpp"

namespace plated {
namespace {

FactorGraph graph_of(std::string_view equation, const std::vector<std::vector<std::int64_t>>& shapes,
                     const char* plates = "") {
  return FactorGraph::from_equation(equation, shapes, {.plates = plates});
}

const Tensor square = Tensor::of<double>({2, 2}, {1, 2, 3, 4});

class EngineWorkspace : public testing::Test {
 protected:
  double run(const std::vector<Tensor>& operands, Semiring semiring, int threads = 1, std::int64_t limit = 0) {
    const std::vector<Tensor> outputs{Tensor(Dtype::float64, {})};
    engine::run(schedule, outputs, operands, workspace,
                {.semiring = semiring, .threads = threads, .memory_limit = limit});
    return outputs[0].item();
  }
  planner::Schedule schedule = planner::plan(graph_of("ab,bc,cd->", {{2, 2}, {2, 2}, {2, 2}}), {});
  engine::Workspace workspace;
};

TEST_F(EngineWorkspace, BindsOnceForTheSameStrides) {
  EXPECT_EQ(run({square, square, square}, Semiring::real), 290);
  const auto* steps = workspace.bound.steps.data();
  const Tensor other = Tensor::of<double>({2, 2}, {0, 0, 0, 1});
  EXPECT_EQ(run({other, square, square}, Semiring::real), 3 * 3 + 4 * 7);
  EXPECT_EQ(workspace.bound.steps.data(), steps) << "the binding was made anew";
}

TEST_F(EngineWorkspace, BindsAnewForOtherStridesTypesAndSemirings) {
  EXPECT_EQ(run({square, square, square}, Semiring::real), 290);
  const std::size_t swapped[] = {1, 0};
  EXPECT_EQ(run({square.permuted(swapped), square, square}, Semiring::real), 310);
  EXPECT_EQ(run({square, square, square}, Semiring::max_plus), 12);
  const Tensor narrow = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run({narrow, narrow, narrow}, Semiring::real), 290);
  EXPECT_EQ(run({square, narrow, square}, Semiring::real), 290);
  EXPECT_EQ(run({square, square, square}, Semiring::real), 290);
}

TEST_F(EngineWorkspace, GrowsAndNeverShrinks) {
  EXPECT_EQ(workspace.bytes(), 0);
  (void)run({square, square, square}, Semiring::log, 1);
  const std::int64_t one = workspace.bytes();
  EXPECT_GE(one, planner::place_buffers(schedule, schedule.extents, {}).bytes);
  (void)run({square, square, square}, Semiring::log, 4);
  const std::int64_t four = workspace.bytes();
  EXPECT_GE(four, one);
  (void)run({square, square, square}, Semiring::log, 1);
  EXPECT_EQ(workspace.bytes(), four);
}

TEST_F(EngineWorkspace, RefusesALimitBeforeItAllocates) {
  std::int64_t needed = 0;
  try {
    (void)run({square, square, square}, Semiring::log, 2, 1);
    FAIL() << "a limit of one byte was kept";
  } catch (const MemoryLimitError& error) {
    needed = error.bytes_needed();
    EXPECT_EQ(error.limit(), 1);
    EXPECT_NE(std::string(error.what()).find(std::to_string(needed)), std::string::npos) << error.what();
  }
  EXPECT_EQ(workspace.bytes(), 0) << "something was allocated";
  EXPECT_GT(needed, 1);
  EXPECT_THROW((void)run({square, square, square}, Semiring::log, 2, needed - 1), MemoryLimitError);
  EXPECT_EQ(workspace.bytes(), 0);
  (void)run({square, square, square}, Semiring::log, 2, needed);
  EXPECT_EQ(workspace.bytes(), needed);
}

TEST(PlanMemory, IsRefusedByBytesNeededHoweverLarge) {
  // Stride 0 makes matrices of 10^12 entries out of one number; their product cannot be held.
  const std::int64_t n = 1000000;
  const double zero = 0;
  const Tensor broadcast = Tensor::view(&zero, {n, n}, {0, 0});
  const Plan plan = compile(graph_of("ab,bc,cd,da->", {{n, n}, {n, n}, {n, n}, {n, n}}));
  try {
    (void)plan.run({broadcast, broadcast, broadcast, broadcast}, {.threads = 1, .memory_limit = 1 << 30});
    FAIL() << "8 TB were allocated";
  } catch (const MemoryLimitError& error) {
    EXPECT_GE(error.bytes_needed(), 8 * n * n);
    EXPECT_EQ(error.limit(), 1 << 30);
    EXPECT_GE(error.bytes_needed(), plan.cost({}, {}, Dtype::float64).peak_bytes);
  }
}

TEST(PlanMemory, OfAPublicWorkspaceIsKnown) {
  const Plan plan = compile(graph_of("ab,bc->ac", {{2, 2}, {2, 2}}));
  Workspace workspace(plan);
  EXPECT_EQ(workspace.bytes(), 0);
  const std::vector<Tensor> outputs{Tensor(Dtype::float64, {2, 2})}, operands{square, square};
  plan.run_into(outputs, operands, workspace, {.semiring = Semiring::real});
  EXPECT_EQ(outputs[0].values(), (std::vector<double>{7, 10, 15, 22}));
  Workspace moved = std::move(workspace);
  plan.run_into(outputs, operands, moved, {.semiring = Semiring::max_plus});
  EXPECT_EQ(outputs[0].values(), (std::vector<double>{5, 6, 7, 8}));
}

TEST(PlanRunInto, RefusesOutputsThatDoNotFit) {
  const Plan plan = compile(graph_of("ab,bc->ac", {{2, 2}, {2, 2}}));
  Workspace workspace(plan);
  const std::vector<Tensor> operands{square, square};
  const auto run_into = [&](const std::vector<Tensor>& outputs) { plan.run_into(outputs, operands, workspace); };
  EXPECT_THROW(run_into({}), OperandCountError);
  EXPECT_THROW(run_into({Tensor(Dtype::float64, {2})}), RankError);
  EXPECT_THROW(run_into({Tensor(Dtype::float64, {2, 3})}), SizeError);
  EXPECT_THROW(run_into({Tensor()}), RankError);
  double one = 0;
  const double fixed[4] = {};
  EXPECT_THROW(run_into({Tensor::view(&one, {2, 2}, {0, 0})}), OverlapError);
  EXPECT_THROW(run_into({square}), OverlapError);
  EXPECT_THROW(run_into({Tensor::view(fixed, {2, 2})}), ShapeError);
  EXPECT_THROW(run_into({Tensor::view(static_cast<double*>(nullptr), {2, 2})}), NullDataError);
}

// A call on the tensors of the last one is not checked for shapes again: what differs must be noticed.
TEST(PlanRunInto, NoticesWhatDiffersFromTheLastCall) {
  const Plan plan =
      compile(FactorGraph::from_equation("ia,a->i", std::vector<Tensor::Shape>{{2, 2}, {2}}, {.batch = "i"}));
  Workspace workspace(plan);
  std::vector<double> memory{1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0};
  double* const out = memory.data() + 8;
  const Tensor f = Tensor::view(memory.data(), {2, 2}), g = Tensor::view(memory.data() + 6, {2});
  const Tensor output = Tensor::view(out, {2});
  const auto run = [&](const Tensor& written, const std::vector<Tensor>& operands, RunOptions options = {}) {
    options.semiring = options.semiring == Semiring::log ? Semiring::real : options.semiring;
    plan.run_into(std::vector{written}, operands, workspace, options);
  };
  const auto run_twice = [&] {
    for (int k = 0; k < 2; ++k) {
      out[0] = out[1] = 0;
      run(output, {f, g});
      EXPECT_EQ(output.values(), (std::vector<double>{1 * 7 + 2 * 8, 3 * 7 + 4 * 8}));
    }
  };
  run_twice();
  EXPECT_THROW(run(Tensor::view(static_cast<const double*>(out), {2}), {f, g}), ShapeError) << "read-only";
  run_twice();
  EXPECT_THROW(run(Tensor::view(memory.data(), {2}), {f, g}), OverlapError);
  EXPECT_THROW(run(Tensor::view(out, {2}, {0}), {f, g}), OverlapError);
  EXPECT_THROW(run(Tensor::view(out, {3}), {f, g}), SizeError);
  run_twice();
  EXPECT_THROW(run(output, {f}), OperandCountError);
  EXPECT_THROW(run(output, {f, Tensor::view(memory.data() + 6, {1})}), SizeError);
  EXPECT_THROW(run(output, {f, g}, {.sizes = {{"i", 3}}}), SizeError);
  EXPECT_THROW(run(output, {f, g}, {.threads = -1}), OptionError);
  run_twice();
  memory[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(run(output, {f, g}), ValueError);
  memory[0] = 1;
  run_twice();
  // Other strides and sizes at the same addresses, and another semiring.
  run(output, {Tensor::view(memory.data(), {2, 2}, {1, 2}), g});
  EXPECT_EQ(output.values(), (std::vector<double>{1 * 7 + 3 * 8, 2 * 7 + 4 * 8}));
  run(Tensor::view(out, {3}), {Tensor::view(memory.data(), {3, 2}), g});
  EXPECT_EQ(out[2], 5 * 7 + 6 * 8);
  run(output, {f, g}, {.semiring = Semiring::max_plus});
  EXPECT_EQ(output.values(), (std::vector<double>{10, 12}));
  run_twice();
}

TEST(PlanRun, NoticesThatOthersHaveUsedItsPoolAtOtherSizes) {
  const Plan plan = compile(FactorGraph::from_equation("ia->i", std::vector<Tensor::Shape>{{2, 2}}, {.batch = "i"}));
  const Tensor two = Tensor::of<double>({2, 2}, {1, 2, 3, 4}), three = Tensor::of<double>({3, 2}, {1, 2, 3, 4, 5, 6});
  const RunOptions real{.semiring = Semiring::real};
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(plan.run({two}, real)[0].values(), (std::vector<double>{3, 7}));
    // Numbers of this size are reduced, and outputs computed once more, in a workspace of the pool.
    const Tensor large = Tensor::of<double>({3, 2}, {1e20, 1e20, 2e20, 2e20, 3e20, 3e20});
    EXPECT_EQ(value_and_gradient(plan, std::vector{large}).values[0].values(), (std::vector<double>{1e20, 2e20, 3e20}));
    EXPECT_EQ(plan.run({three}, real)[0].values(), (std::vector<double>{3, 7, 11}));
    const Tensor output(Dtype::float64, {3});
    plan.run_into(std::vector{output}, std::vector{three}, real);
    EXPECT_EQ(output.values(), (std::vector<double>{3, 7, 11}));
    EXPECT_THROW((void)plan.run({Tensor::view(static_cast<const double*>(nullptr), {3, 2})}, real), NullDataError);
  }
}

TEST(PlanRunInto, RefusesOutputsThatShareMemory) {
  const Plan plan = compile(graph_of("ab->a,b", {{2, 2}}));
  Workspace workspace(plan);
  double memory[4] = {};
  const Tensor low = Tensor::view(memory, {2}), middle = Tensor::view(memory + 1, {2}),
               high = Tensor::view(memory + 2, {2});
  const auto run_into = [&](const std::vector<Tensor>& outputs, const std::vector<Tensor>& operands) {
    plan.run_into(outputs, operands, workspace, {.semiring = Semiring::real});
  };
  EXPECT_THROW(run_into({low, low}, {square}), OverlapError);
  EXPECT_THROW(run_into({low, middle}, {square}), OverlapError);
  EXPECT_THROW(run_into({low, high}, {Tensor::view(memory, {2, 2}, {0, 1})}), OverlapError);
  run_into({low, high}, {square});
  EXPECT_EQ(low.values(), (std::vector<double>{3, 7}));
  EXPECT_EQ(high.values(), (std::vector<double>{4, 6}));
}

TEST(PlanRunInto, RefusesAWorkspaceOfAnotherPlan) {
  const Plan plan = compile(graph_of("a->", {{2}})), other = compile(graph_of("a->a", {{2}}));
  Workspace workspace(other);
  const std::vector<Tensor> outputs{Tensor(Dtype::float64, {})}, operands{Tensor(Dtype::float64, {2})};
  EXPECT_THROW(plan.run_into(outputs, operands, workspace), OptionError);
}

TEST(PlanRun, RefusesOperandsThatDoNotFit) {
  const Plan plan = compile(graph_of("ab,bc->ac", {{2, 2}, {2, 2}}));
  EXPECT_THROW((void)plan.run({square}), OperandCountError);
  EXPECT_THROW((void)plan.run({square, Tensor(Dtype::float64, {2})}), RankError);
  EXPECT_THROW((void)plan.run({square, Tensor(Dtype::float64, {2, 3})}), SizeError);
  EXPECT_THROW((void)plan.run({square, Tensor::view(static_cast<double*>(nullptr), {2, 2})}), NullDataError);
}

class BadEntry : public testing::TestWithParam<std::pair<Semiring, double>> {};

TEST_P(BadEntry, IsAnErrorThatNamesOperandAndIndex) {
  const auto [semiring, bad] = GetParam();
  const Plan plan = compile(graph_of("ab,bc->ac", {{2, 2}, {2, 2}}));
  for (const bool narrow : {false, true}) {
    const Tensor second = narrow ? Tensor::of<float>({2, 2}, {1, 1, static_cast<float>(bad), 1})
                                 : Tensor::of<double>({2, 2}, {1, 1, bad, 1});
    try {
      (void)plan.run({square, second}, {.semiring = semiring});
      FAIL() << bad << " passed in " << name(semiring);
    } catch (const ValueError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("'f1'"), std::string::npos) << text;
      EXPECT_NE(text.find("(1, 0)"), std::string::npos) << text;
    }
    EXPECT_NO_THROW((void)plan.run({square, second}, {.semiring = semiring, .check = Check::none}));
  }
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
INSTANTIATE_TEST_SUITE_P(Semirings, BadEntry,
                         testing::Values(std::pair{Semiring::real, nan}, std::pair{Semiring::real, infinity},
                                         std::pair{Semiring::real, -infinity}, std::pair{Semiring::log, nan},
                                         std::pair{Semiring::log, infinity}, std::pair{Semiring::max_plus, nan},
                                         std::pair{Semiring::max_plus, infinity}, std::pair{Semiring::min_plus, nan},
                                         std::pair{Semiring::min_plus, -infinity},
                                         std::pair{Semiring::max_product, nan},
                                         std::pair{Semiring::max_product, infinity},
                                         std::pair{Semiring::max_product, -1.0}, std::pair{Semiring::boolean, nan}));

}  // namespace
}  // namespace plated
