// Joint samples of random chains: chi-squared tests on all joint cells, and a stream that depends on the seed alone.
#include <gtest/gtest.h>

#include <tuple>

#include "plated/sample.hpp"
#include "property/blocked_from.hpp"
#include "property/chain_case.hpp"
#include "property/chi_squared.hpp"

namespace plated::test {
namespace {

using Draws = std::map<std::string, Integers>;

testing::AssertionResult check(DrawnChain& drawn, std::int64_t count) {
  const oracle::Posterior posterior = drawn.posterior();
  const auto ask = [&] {
    return sample(drawn.plan, drawn.tensors(), {.count = count, .seed = drawn.c.seed + 11}, drawn.run());
  };
  if (any_zero(drawn.posterior().table({}), drawn.semiring)) return impossible([&] { (void)ask(); });
  const Draws draws = ask();
  if (draws.size() != drawn.variables().size()) return testing::AssertionFailure() << draws.size() << " variables";
  for (const DimId v : drawn.variables()) {
    Tensor::Shape shape = posterior.shape(posterior.axes({v}));
    shape.pop_back();
    shape.insert(shape.begin(), count);
    if (draws.at(drawn.name_of(v)).shape != shape) {
      return testing::AssertionFailure() << drawn.name_of(v) << " has the wrong shape";
    }
  }
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    const Numbers cells = posterior.cells(n);
    std::vector<std::int64_t> counts(cells.size(), 0);
    for (std::int64_t s = 0; s < count; ++s) {
      const std::size_t block = static_cast<std::size_t>(s) * posterior.batches() + n;
      ++counts.at(posterior.cell(posterior.states(block, draws), n));
    }
    const auto good = plausible(counts, cells);
    if (!good) return testing::AssertionFailure() << good.message() << ", batch " << n;
  }
  return testing::AssertionSuccess();
}

class ChainSample : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  void run(std::uint64_t runs, int zero_percent, bool nested = false, bool extreme = false) {
    const ChainDraw draw{.semiring = std::get<0>(GetParam()),
                         .dtypes = {std::get<1>(GetParam())},
                         .zero_percent = zero_percent,
                         .extreme = extreme,
                         .graphs = {.most_work = 4000, .nested = nested}};
    for_each_chain(runs, draw, [&](DrawnChain& drawn) { return check(drawn, 2500); });
  }
};

TEST_P(ChainSample, HasTheJointDistribution) { run(120, 0); }
TEST_P(ChainSample, NeverDrawsTheImpossible) { run(120, 12); }
TEST_P(ChainSample, OfChainsInsideChains) { run(40, 5, true); }
TEST_P(ChainSample, OfRunsInBlocksOfSlices) {
  const BlockedFrom all(0);
  run(40, 5);
  run(15, 5, true);
}
/// Until posteriors are exact for slices that weigh 1e±300, or are masked with −1e30 in log space.
TEST_P(ChainSample, OfExtremeMagnitudes) { run(100, 0, false, true); }

INSTANTIATE_TEST_SUITE_P(Semirings, ChainSample,
                         testing::Combine(testing::Values(Semiring::log, Semiring::real),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

TEST(ChainSamples, AreTheSameInAnyBatchesAndAnyThreads) {
  for_each_chain(150, {.zero_percent = 3}, [](DrawnChain& drawn) -> testing::AssertionResult {
    if (any_zero(drawn.posterior().table({}), drawn.semiring)) return testing::AssertionSuccess();
    const auto ask = [&](std::int64_t first, std::int64_t count, int threads) {
      RunOptions options = drawn.run();
      options.threads = threads;
      return sample(drawn.plan, drawn.tensors(), {.count = count, .seed = 3, .first = first}, options);
    };
    const Draws all = ask(0, 40, 1);
    for (const int threads : {2, 8}) {
      if (ask(0, 40, threads) != all) return testing::AssertionFailure() << threads << " threads differ";
    }
    std::int64_t first = 0;
    for (const std::int64_t count : {0, 1, 2, 17, 20}) {
      for (const auto& [variable, part] : ask(first, count, 1)) {
        const std::vector<std::int64_t>& whole = all.at(variable).values;
        const std::int64_t each = std::ssize(whole) / 40;
        if (!std::equal(part.values.begin(), part.values.end(), whole.begin() + first * each,
                        whole.begin() + (first + count) * each)) {
          return testing::AssertionFailure() << count << " samples of " << variable << " from " << first << " differ";
        }
      }
      first += count;
    }
    return testing::AssertionSuccess();
  });
}

/// Two states that change with probability 1/4 a slice: transitions of a long path are independent throws of a coin.
TEST(ChainSamples, OfALongChainHaveItsTransitions) {
  const std::int64_t slices = 5000, count = 20;
  const double stay = std::log(0.75), change = std::log(0.25);
  const Tensor transition = Tensor::of<double>({2, 2}, {stay, change, change, stay});
  EinsumOptions options{.chains = {{"t", {"a->b"}}}, .sizes = {{"t", slices}}};
  const Draws draws = sample("(t) a b ->", {transition}, {.count = count, .seed = 8}, options);
  std::vector<std::int64_t> counts(4, 0), runs(4, 0);
  for (std::int64_t s = 0; s < count; ++s) {
    std::int64_t before = 0;
    for (std::int64_t t = 0; t < slices; ++t) {
      const std::int64_t a = draws.at("a").at({s, t}), b = draws.at("b").at({s, t});
      ASSERT_EQ(a, t > 0 ? draws.at("b").at({s, t - 1}) : a) << "sample " << s << " slice " << t;
      ++counts[static_cast<std::size_t>(2 * a + b)];
      const std::int64_t changed = a == b ? 0 : 1;
      if (t % 2 == 1) ++runs[static_cast<std::size_t>(2 * before + changed)];
      before = changed;
    }
  }
  EXPECT_TRUE(plausible(counts, std::vector<double>{0.375, 0.125, 0.125, 0.375}));
  EXPECT_TRUE(plausible(runs, std::vector<double>{0.5625, 0.1875, 0.1875, 0.0625}));
}

}  // namespace
}  // namespace plated::test
