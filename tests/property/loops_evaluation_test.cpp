// Questions about evaluations under memory limits: what is held counts, and sweeps are cut.
#include <gtest/gtest.h>

#include "plated/evaluation.hpp"
#include "property/question_case.hpp"

namespace plated::test {
namespace {

std::vector<std::uint64_t> bits_of_answers(const Evaluation& evaluation, int question) {
  std::vector<Tensor> answers;
  if (question == 0) answers = evaluation.gradient();
  if (question == 1) {
    for (const auto& [name, marginal] : evaluation.marginals({.factors = true}).variables) answers.push_back(marginal);
  }
  if (question == 2) answers.push_back(evaluation.entropy());
  return bits_of(answers);
}

TEST(LoopsOfEvaluations, AnswerTheSameUnderAnyLimit) {
  int cut = 0;
  for_each_seed(150, [&](std::uint64_t seed) -> testing::AssertionResult {
    const std::optional<LargeCase> large = large_case(seed, Semiring::log, Dtype::float64);
    if (!large) return testing::AssertionSuccess();
    const BlockedFrom all(0);
    const Plan plan = compile(large->graph);
    for (const int threads : {1, 2}) {
      const auto evaluate = [&](std::int64_t limit) {
        return plan.evaluate(large->factors, {.threads = threads, .memory_limit = limit});
      };
      for (int question = 0; question < 3; ++question) {
        const auto ask = [&](std::int64_t limit) { return bits_of_answers(evaluate(limit), question); };
        std::vector<std::uint64_t> want;
        try {
          want = ask(0);
        } catch (const ImpossibleError&) {
          continue;
        }
        // What the evaluation needs, then what the question does.
        std::int64_t least = 1;
        bool answered = false;
        for (int tries = 0; tries < 4 && !answered; ++tries) {
          try {
            if (ask(least) != want) {
              return testing::AssertionFailure() << large->print() << "\n  question " << question << " with " << least
                                                 << " bytes on " << threads << " threads";
            }
            answered = true;
          } catch (const MemoryLimitError& error) {
            if (error.bytes_needed() <= least) return testing::AssertionFailure() << large->print() << error.what();
            least = error.bytes_needed();
          }
        }
        if (!answered) return testing::AssertionFailure() << large->print() << "\n  refused with what it needs";
        const BlockedFrom none(never_blocked);
        try {
          const Plan uncut = compile(large->graph);
          (void)bits_of_answers(uncut.evaluate(large->factors, {.threads = threads, .memory_limit = least}), question);
        } catch (const MemoryLimitError&) {
          ++cut;
        }
      }
    }
    return testing::AssertionSuccess();
  });
  EXPECT_GT(cut, quota(10)) << "too few were cut";
}

}  // namespace
}  // namespace plated::test
