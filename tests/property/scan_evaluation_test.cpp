// The best assignments and samples of evaluations of random chains, which trace back what a forward run has kept.
#include <gtest/gtest.h>

#include "plated/evaluation.hpp"
#include "property/chain_case.hpp"
#include "property/chi_squared.hpp"

namespace plated::test {
namespace {

testing::AssertionResult check_best(DrawnChain& drawn) {
  const oracle::Posterior posterior = drawn.posterior();
  const Numbers best = drawn.posterior().table({});
  if (any_zero(best, drawn.semiring)) return testing::AssertionSuccess();
  const MapResult got = drawn.plan.evaluate(drawn.tensors(), drawn.run()).map();
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    const long double weight = posterior.weight(n, posterior.states(n, got.assignment));
    if (!(std::abs(weight - best[n]) <= 1e-12L * (20 + std::abs(best[n])))) {
      return testing::AssertionFailure() << "the assignment of batch " << n << " weighs " << static_cast<double>(weight)
                                         << ", not " << static_cast<double>(best[n]);
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult check_samples(DrawnChain& drawn) {
  constexpr std::int64_t count = 1500;
  const oracle::Posterior posterior = drawn.posterior();
  if (any_zero(drawn.posterior().table({}), drawn.semiring)) return testing::AssertionSuccess();
  const auto draws =
      drawn.plan.evaluate(drawn.tensors(), drawn.run()).sample({.count = count, .seed = drawn.c.seed + 5});
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    const Numbers cells = posterior.cells(n);
    std::vector<std::int64_t> counts(cells.size(), 0);
    for (std::int64_t s = 0; s < count; ++s) {
      const std::size_t block = static_cast<std::size_t>(s) * posterior.batches() + n;
      ++counts.at(posterior.cell(posterior.states(block, draws), n));
    }
    if (const auto good = plausible(counts, cells); !good) return good;
  }
  return testing::AssertionSuccess();
}

TEST(ScanEvaluation, HasTheBestAssignment) {
  for (const bool nested : {false, true}) {
    const ChainDraw draw{.semiring = Semiring::max_plus, .zero_percent = 4, .graphs = {.nested = nested}};
    for_each_chain(150, draw, check_best);
  }
}

TEST(ScanEvaluation, DrawsFromTheJointDistribution) {
  for (const bool nested : {false, true}) {
    const ChainDraw draw{.zero_percent = 4, .graphs = {.most_work = 4000, .nested = nested}};
    for_each_chain(60, draw, check_samples);
  }
}

}  // namespace
}  // namespace plated::test
