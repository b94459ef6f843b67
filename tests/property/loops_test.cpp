// Blocks and loops: blocked runs agree with others to rounding, and cut ones with uncut ones in every bit.
#include <gtest/gtest.h>

#include "property/question_case.hpp"

namespace plated::test {
namespace {

std::vector<Tensor> answers(const LargeCase& large, const Question& question, engine::Workspace& workspace, int threads,
                            std::int64_t limit = 0) {
  std::vector<Tensor> outputs = large.outputs(question.schedule);
  engine::run(question.schedule, outputs, large.operands(question), workspace,
              {.semiring = question.semiring, .extents = &large.extents, .threads = threads, .memory_limit = limit});
  return outputs;
}

/// The least limit that a run keeps to.
std::int64_t least_limit(const LargeCase& large, const Question& question, int threads) {
  engine::Workspace workspace;
  try {
    (void)answers(large, question, workspace, threads, 1);
  } catch (const MemoryLimitError& error) {
    EXPECT_EQ(workspace.bytes(), 0) << "something was allocated";
    return error.bytes_needed();
  }
  return 1;
}

class Loops : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {};

TEST_P(Loops, GiveTheSameBitsUnderAnyLimit) {
  const auto [semiring, dtype] = GetParam();
  int cut = 0;
  for_each_seed(60, [&, semiring = semiring, dtype = dtype](std::uint64_t seed) -> testing::AssertionResult {
    const std::optional<LargeCase> large = large_case(seed, semiring, dtype);
    if (!large) return testing::AssertionSuccess();
    for (const Question& question : questions(large->graph, semiring)) {
      const auto failure = [&] { return testing::AssertionFailure() << large->print() << "\n  " << question.name; };
      engine::Workspace plain;
      const BlockedFrom none(never_blocked);
      const std::vector<Tensor> unblocked = answers(*large, question, plain, 1);
      const BlockedFrom all(0);
      engine::Workspace whole;
      const std::vector<Tensor> want = answers(*large, question, whole, 1);
      const testing::AssertionResult agrees = agree(want, unblocked, rounding(question, dtype));
      if (!agrees) return failure() << " in blocks: " << agrees.message();
      for (const int threads : {1, 2}) {
        engine::Workspace parallel;
        if (bits_of(answers(*large, question, parallel, threads)) != bits_of(want)) {
          return failure() << " has other bits on " << threads << " threads";
        }
        const std::int64_t least = least_limit(*large, question, threads);
        for (std::int64_t limit = least; limit < parallel.bytes(); limit += 1 + (parallel.bytes() - least) / 3) {
          engine::Workspace workspace;
          if (bits_of(answers(*large, question, workspace, threads, limit)) != bits_of(want)) {
            return failure() << " has other bits with " << limit << " of " << parallel.bytes() << " bytes on "
                             << threads << " threads";
          }
          if (workspace.bytes() > limit) return failure() << " takes more than " << limit << " bytes";
          cut += workspace.bound.loops.empty() ? 0 : 1;
        }
      }
    }
    return testing::AssertionSuccess();
  });
  EXPECT_GT(cut, quota(10)) << "too few runs were cut";
}

INSTANTIATE_TEST_SUITE_P(Semirings, Loops,
                         testing::Values(std::tuple(Semiring::log, Dtype::float64),
                                         std::tuple(Semiring::log, Dtype::float32),
                                         std::tuple(Semiring::real, Dtype::float64),
                                         std::tuple(Semiring::max_plus, Dtype::float64)));

TEST(Loops, RunThePapersGradientInATwentiethOfItsMemory) {
  // The model of the paper's Fig. 4, with few states of the innermost variables.
  const std::int64_t n = 256;
  const Model model("a,abi,bcij,adj,deij->", {{8}, {8, 16, n}, {16, 4, n, n}, {8, 16, n}, {16, 4, n, n}}, "ij",
                    Dtype::float32, Semiring::log);
  const LargeCase large{{}, model.graph, planner::extents_of(model.graph), Random(1), model.operands};
  const std::vector<bool> wanted(large.factors.size(), true);
  const Question gradient{
      "gradient", adjoint::gradient_schedule(adjoint::forward(large.graph, {}), 1, {.wanted = wanted}), Semiring::log};
  engine::Workspace whole;
  const std::vector<Tensor> want = answers(large, gradient, whole, 2);
  EXPECT_TRUE(whole.bound.loops.empty());
  engine::Workspace workspace;
  const std::vector<Tensor> got = answers(large, gradient, workspace, 2, whole.bytes() / 20);
  EXPECT_EQ(bits_of(got), bits_of(want));
  EXPECT_LE(workspace.bytes(), whole.bytes() / 20);
}

}  // namespace
}  // namespace plated::test
