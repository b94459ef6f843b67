// MAP and samples under memory limits: runs that are cut choose the same states as those that are not.
#include <gtest/gtest.h>

#include "plated/map.hpp"
#include "plated/plan.hpp"
#include "plated/sample.hpp"
#include "property/question_case.hpp"

namespace plated::test {
namespace {

/// All states, and the score where there is one.
struct Chosen {
  std::map<std::string, Integers> states;
  std::vector<std::uint64_t> score;
  bool operator==(const Chosen&) const = default;
};

using Ask = std::function<Chosen(const RunOptions&)>;

/// Asks without a limit, with the least one and some between, on one thread and on two.
testing::AssertionResult same_under_limits(const Ask& ask, Semiring semiring, int& cut) {
  const Chosen want = ask({.semiring = semiring, .threads = 1});
  for (const int threads : {1, 2}) {
    if (ask({.semiring = semiring, .threads = threads}) != want) {
      return testing::AssertionFailure() << "other states on " << threads << " threads";
    }
    std::int64_t least = 1;
    try {
      (void)ask({.semiring = semiring, .threads = threads, .memory_limit = 1});
    } catch (const MemoryLimitError& error) {
      least = error.bytes_needed();
    }
    std::int64_t whole = least;
    {
      // Without blocks nothing is cut.
      const BlockedFrom none(never_blocked);
      try {
        (void)ask({.semiring = semiring, .threads = threads, .memory_limit = 1});
      } catch (const MemoryLimitError& error) {
        whole = error.bytes_needed();
      }
    }
    for (std::int64_t limit = least; limit < whole; limit += 1 + (whole - least) / 3) {
      ++cut;
      if (ask({.semiring = semiring, .threads = threads, .memory_limit = limit}) != want) {
        return testing::AssertionFailure()
               << "other states with " << limit << " of " << whole << " bytes on " << threads << " threads";
      }
    }
  }
  return testing::AssertionSuccess();
}

class LoopsOfChoices : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {};

TEST_P(LoopsOfChoices, ChooseTheSameUnderAnyLimit) {
  const auto [semiring, dtype] = GetParam();
  int cut = 0;
  for_each_seed(150, [&, semiring = semiring, dtype = dtype](std::uint64_t seed) -> testing::AssertionResult {
    const std::optional<LargeCase> large = large_case(seed, semiring, dtype);
    if (!large) return testing::AssertionSuccess();
    const BlockedFrom all(0);
    const bool draws = semiring == Semiring::log;
    for (const std::int64_t count : draws ? std::vector<std::int64_t>{1, 20} : std::vector<std::int64_t>{1}) {
      const Ask ask = [&](const RunOptions& options) -> Chosen {
        const Plan plan = compile(large->graph);
        if (draws) return {sample(plan, large->factors, {.count = count, .seed = seed}, options), {}};
        MapResult best = map(plan, large->factors, options);
        return {std::move(best.assignment), bits_of({best.score})};
      };
      try {
        const testing::AssertionResult same = same_under_limits(ask, semiring, cut);
        if (!same) return testing::AssertionFailure() << large->print() << "\n  " << count << ": " << same.message();
      } catch (const ImpossibleError&) {
      }
    }
    return testing::AssertionSuccess();
  });
  EXPECT_GT(cut, quota(10)) << "too few runs were cut";
  RecordProperty("cut", cut);
}

INSTANTIATE_TEST_SUITE_P(Semirings, LoopsOfChoices,
                         testing::Values(std::tuple(Semiring::max_plus, Dtype::float64),
                                         std::tuple(Semiring::max_plus, Dtype::float32),
                                         std::tuple(Semiring::min_plus, Dtype::float64),
                                         std::tuple(Semiring::log, Dtype::float64),
                                         std::tuple(Semiring::log, Dtype::float32)));

TEST(LoopsOfChoices, RunInAFractionOfTheirMemory) {
  const std::int64_t n = slow_build ? 20000 : 100000;
  const BlockedFrom sooner(1 << 18);
  const Model model("iab,ibc,icd->", {{n, 8, 8}, {n, 8, 8}, {n, 8, 8}}, "i", Dtype::float32, Semiring::log);
  const Plan plan = compile(model.graph);
  // What cannot be cut: all states, and once more those of variables that others depend on.
  const std::int64_t answers = n * (4 * 8 + 2 * 4);
  const auto needed = [&](const auto& ask) -> std::int64_t {
    try {
      ask(RunOptions{.threads = 2, .memory_limit = 1});
    } catch (const MemoryLimitError& error) {
      return error.bytes_needed();
    }
    return 0;
  };
  const auto best = [&](const RunOptions& options) { return map(plan, model.operands, options); };
  const MapResult want = best({.threads = 2});
  const std::int64_t whole = plan.cost({.kind = plated::Question::Kind::map}, {}, Dtype::float32).run_bytes - answers;
  const std::int64_t least = needed(best) - answers;
  EXPECT_LT(least, whole / 4) << whole;
  const MapResult got = best({.threads = 2, .memory_limit = least + answers});
  EXPECT_EQ(got.assignment, want.assignment);
  EXPECT_EQ(got.score.values(), want.score.values());
  const auto draw = [&](const RunOptions& options) { return sample(plan, model.operands, {.count = 3}, options); };
  EXPECT_EQ(draw({.threads = 2, .memory_limit = needed(draw)}), draw({.threads = 2}));
}

}  // namespace
}  // namespace plated::test
