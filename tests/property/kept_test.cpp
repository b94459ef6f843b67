// Kept runs: updates have the bits of a new run, and questions those of the same question without it.
#include <gtest/gtest.h>

#include "engine/kept.hpp"
#include "property/question_case.hpp"

namespace plated::test {
namespace {

planner::Schedule forward_of(const FactorGraph& graph) {
  planner::Schedule forward = planner::plan(graph, {.keep_sums = true});
  forward.reuses_buffers = false;
  return forward;
}

Tensor copy_of(const Tensor& tensor) {
  const Tensor copy(tensor.dtype(), tensor.shape());
  const auto bytes = static_cast<std::size_t>(tensor.elements()) * size_of(tensor.dtype());
  if (bytes > 0) std::memcpy(copy.mutable_data(), tensor.data(), bytes);
  return copy;
}

/// Changes the entries of an operand that are in all slices.
void change(const Tensor& tensor, const std::vector<DimId>& axes, const std::vector<engine::Slice>& slices,
            Random& random, Semiring semiring) {
  for (std::int64_t k = 0; k < tensor.elements(); ++k) {
    bool inside = true;
    std::int64_t rest = k;
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      const std::int64_t index = rest % tensor.shape()[axis];
      rest /= tensor.shape()[axis];
      for (const engine::Slice& slice : slices) inside = inside && (slice.plate != axes[axis] || slice.index == index);
    }
    if (inside) static_cast<double*>(tensor.mutable_data())[k] = Operands::entry(random, semiring);
  }
}

class KeptUpdate : public testing::TestWithParam<std::tuple<Semiring, int>> {};

TEST_P(KeptUpdate, HasTheBitsOfANewRun) {
  const auto [semiring, threads] = GetParam();
  for_each_seed(100, [&, semiring = semiring, threads = threads](std::uint64_t seed) -> testing::AssertionResult {
    const std::optional<LargeCase> large = large_case(seed, semiring, Dtype::float64);
    if (!large || large->factors.empty()) return testing::AssertionSuccess();
    const planner::Schedule forward = forward_of(large->graph);
    const engine::Settings settings{.semiring = semiring, .threads = threads};
    std::vector<Tensor> operands;
    for (const Tensor& t : large->factors) operands.push_back(copy_of(t));
    engine::Kept kept(forward, large->extents, large->outputs(forward), operands, settings);
    Random random(seed + 5);
    for (int round = 0; round < 4; ++round) {
      const auto f = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(operands.size())));
      if (operands[f].elements() == 0) continue;
      std::vector<engine::Slice> slices;
      for (const DimId d : base::sorted(large->graph.factors()[f].dims)) {
        if (large->graph.dims()[d].kind == DimKind::variable || random.chance(30)) continue;
        slices.push_back({d, random.below(large->extents[d])});
      }
      change(operands[f], large->graph.factors()[f].dims, slices, random, semiring);
      kept.update(f, slices);
      const engine::Kept fresh(forward, large->extents, large->outputs(forward), operands, settings);
      if (bits_of(kept.outputs()) != bits_of(fresh.outputs())) {
        return testing::AssertionFailure() << large->print() << "\n  round " << round << ", operand " << f;
      }
    }
    return testing::AssertionSuccess();
  });
}

INSTANTIATE_TEST_SUITE_P(Semirings, KeptUpdate,
                         testing::Combine(testing::Values(Semiring::log, Semiring::real, Semiring::min_plus),
                                          testing::Values(1, 2)));

TEST(KeptUpdate, OfOneSliceTakesAFiftiethOfARun) {
  const std::int64_t slices = slow_build ? 20000 : 200000;
  const Model model("a,iab->", {{8}, {slices, 8, 8}}, "i", Dtype::float32, Semiring::log);
  const planner::Schedule forward = forward_of(model.graph);
  const engine::Settings settings{.semiring = Semiring::log, .threads = 1};
  const auto seconds = [](const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::optional<engine::Kept> kept;
  const std::vector<Tensor> outputs{Tensor(Dtype::float32, {})};
  const double run = seconds([&] { kept.emplace(forward, forward.extents, outputs, model.operands, settings); });
  const engine::Slice slice{model.graph.factors()[1].dims[0], 777};
  double update = run;
  for (int repeat = 0; repeat < 5; ++repeat) {
    update = std::min(update, seconds([&] { kept->update(1, std::span(&slice, 1)); }));
  }
  EXPECT_LT(update, run / 50) << "update: " << update << " s, run: " << run << " s";
  RecordProperty("ratio", std::to_string(run / update));
}

TEST(KeptQuestions, HaveTheSameAnswers) {
  for_each_seed(60, [&](std::uint64_t seed) -> testing::AssertionResult {
    const std::optional<LargeCase> large = large_case(seed, Semiring::log, Dtype::float64);
    if (!large) return testing::AssertionSuccess();
    const planner::Schedule forward = forward_of(large->graph);
    for (Question& question : questions(large->graph, Semiring::log)) {
      if (question.name != "gradient" && question.name != "hessian") continue;
      engine::Settings settings{.semiring = Semiring::log, .extents = &large->extents, .threads = 1};
      const std::vector<Tensor> operands = large->operands(question);
      engine::Workspace whole, rest;
      const std::vector<Tensor> want = large->outputs(question.schedule);
      engine::run(question.schedule, want, operands, whole, settings);
      const engine::Kept kept(forward, large->extents, large->outputs(forward), large->factors, settings);
      settings.kept = &kept;
      const std::vector<Tensor> got =
          engine::run_allocating(question.schedule, large->outputs(question.schedule), operands, rest, settings);
      const testing::AssertionResult agrees = agree(got, want, rounding(question, Dtype::float64));
      if (!agrees) return testing::AssertionFailure() << large->print() << "\n  " << question.name << agrees.message();
    }
    return testing::AssertionSuccess();
  });
}

}  // namespace
}  // namespace plated::test
