// The best paths and max-marginals of random chains against brute force.
#include <gtest/gtest.h>

#include <tuple>

#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "property/blocked_from.hpp"
#include "property/chain_case.hpp"

namespace plated::test {
namespace {

RunOptions options_of(DrawnChain& drawn) {
  RunOptions options = drawn.run();
  if (drawn.random.chance(40) && drawn.semiring == Semiring::max_plus) options.semiring = Semiring::log;
  if (drawn.random.chance(40) && drawn.semiring == Semiring::max_product) options.semiring = Semiring::real;
  return options;
}

/// The score is the best one, the assignment is consistent along the chain and weighs what the score says.
testing::AssertionResult check(DrawnChain& drawn, const Bound& bound) {
  const RunOptions options = options_of(drawn);
  const oracle::Posterior posterior = drawn.posterior();
  const Numbers best = drawn.posterior().table({});
  const auto ask = [&] { return map(drawn.plan, drawn.tensors(), options); };
  if (any_zero(best, drawn.semiring)) return impossible([&] { (void)ask(); });
  const MapResult got = ask();
  const Tensor::Shape batch = posterior.shape(posterior.axes({}));
  if (const auto good = near("score", got.score, batch, best, log_magnitude(best), bound); !good) return good;
  if (got.assignment.size() != drawn.variables().size()) {
    return testing::AssertionFailure() << got.assignment.size() << " variables";
  }
  for (const DimId v : drawn.variables()) {
    Tensor::Shape shape = posterior.shape(posterior.axes({v}));
    shape.pop_back();
    if (got.assignment.at(drawn.name_of(v)).shape != shape) {
      return testing::AssertionFailure() << drawn.name_of(v) << " has the wrong shape";
    }
  }
  const std::vector<double> scores = got.score.values();
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    const long double weight = posterior.weight(n, posterior.states(n, got.assignment));
    if (!(std::abs(weight - scores[n]) <= bound.relative * (20 + std::abs(weight)))) {
      return testing::AssertionFailure() << "the assignment of batch " << n << " weighs " << static_cast<double>(weight)
                                         << ", not " << scores[n];
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult check_max_marginals(DrawnChain& drawn, const Bound& bound) {
  oracle::Posterior posterior = drawn.posterior();
  const auto got = max_marginals(drawn.plan, drawn.tensors(), options_of(drawn));
  if (got.size() != drawn.variables().size()) return testing::AssertionFailure() << got.size() << " variables";
  for (const DimId v : drawn.variables()) {
    const Numbers want = posterior.table({v});
    const Numbers magnitude = drawn.semiring == Semiring::max_product ? want : log_magnitude(want);
    const auto good =
        near(drawn.name_of(v), got.at(drawn.name_of(v)), posterior.shape(posterior.axes({v})), want, magnitude, bound);
    if (!good) return good;
  }
  return testing::AssertionSuccess();
}

class ChainMap : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  template <class Check>
  void run(std::uint64_t runs, int zero_percent, Check check_one, const ChainOptions& graphs = {}) {
    const ChainDraw draw{.semiring = std::get<0>(GetParam()),
                         .dtypes = {std::get<1>(GetParam())},
                         .zero_percent = zero_percent,
                         .graphs = graphs};
    const Bound within = draw.dtypes[0] == Dtype::float32 ? Bound{5e-6, 0} : Bound{1e-13, 0};
    for_each_chain(runs, draw, [&](DrawnChain& drawn) { return check_one(drawn, within); });
  }
};

TEST_P(ChainMap, IsTheBestAssignment) { run(500, 0, check); }
TEST_P(ChainMap, OfChainsWithZeros) { run(400, 12, check); }
TEST_P(ChainMap, OfLargerChains) { run(30, 3, check, {.most_work = 1e6, .small_sizes = false}); }
TEST_P(ChainMap, OfChainsInsideChains) { run(100, 5, check, {.nested = true}); }
TEST_P(ChainMap, InBlocksOfSlices) {
  const BlockedFrom all(0);
  run(200, 5, check, {.small_sizes = false});
}
TEST_P(ChainMap, OfChainsInsideChainsInBlocksOfSlices) {
  const BlockedFrom all(0);
  run(100, 5, check, {.nested = true});
}
TEST_P(ChainMap, MaxMarginals) { run(300, 0, check_max_marginals); }
TEST_P(ChainMap, MaxMarginalsOfZeros) { run(300, 25, check_max_marginals); }
TEST_P(ChainMap, MaxMarginalsOfChainsInsideChains) { run(100, 5, check_max_marginals, {.nested = true}); }

INSTANTIATE_TEST_SUITE_P(Semirings, ChainMap,
                         testing::Combine(testing::Values(Semiring::max_plus, Semiring::min_plus,
                                                          Semiring::max_product),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

/// Small integers: many ties, and every sum exact.
TEST(ChainMapTies, AreBestAssignmentsAndTheSameEveryTime) {
  for_each_chain(300, {.semiring = Semiring::max_plus}, [](DrawnChain& drawn) -> testing::AssertionResult {
    std::vector<Tensor> whole;
    for (const Tensor& t : drawn.tensors()) {
      std::vector<double> values = t.values();
      for (double& x : values) x = std::round(x / 3);
      whole.push_back(Tensor::of<double>(t.shape(), values));
    }
    oracle::Posterior posterior(drawn.graph, whole, drawn.semiring, drawn.chain_case.lengths);
    const Numbers best = posterior.table({});
    if (any_zero(best, drawn.semiring)) return testing::AssertionSuccess();
    RunOptions options = drawn.run();
    const MapResult got = map(drawn.plan, whole, options);
    for (std::size_t n = 0; n < best.size(); ++n) {
      if (got.score.values()[n] != best[n] || posterior.weight(n, posterior.states(n, got.assignment)) != best[n]) {
        return testing::AssertionFailure() << "batch " << n << " scores " << got.score.values()[n];
      }
    }
    for (const int threads : {1, 3}) {
      options.threads = threads;
      if (map(drawn.plan, whole, options).assignment != got.assignment) {
        return testing::AssertionFailure() << threads << " threads differ";
      }
    }
    return testing::AssertionSuccess();
  });
}

TEST(ChainMapOf, AnEquation) {
  const std::map<std::string, std::vector<std::string>> chains{{"t", {"a->b"}}};
  const Tensor prior = Tensor::of<double>({2}, {1, 2}), transition = Tensor::of<double>({2, 2}, {1, 3, 2, 1});
  const Tensor emission = Tensor::of<double>({2, 2}, {1, 2, 3, 1});
  const auto [score, path] =
      map("a, (t) a b, t b ->", {prior, transition, emission}, {.chains = chains, .semiring = Semiring::max_product});
  EXPECT_EQ(score.item(), 36);
  EXPECT_EQ(path.at("a"), Integers({2}, {0, 1}));
  EXPECT_EQ(path.at("b"), Integers({2}, {1, 0}));
  const auto one = map("a, (t) a b, t b ->", {prior, transition, emission},
                       {.chains = chains,
                        .semiring = Semiring::max_product,
                        .lengths = {{"t", Integers({}, std::vector<std::int64_t>{1})}}});
  EXPECT_EQ(one.score.item(), 6);
  EXPECT_EQ(one.assignment.at("a"), Integers({2}, {0, -1}));
  EXPECT_EQ(one.assignment.at("b"), Integers({2}, {1, -1}));
}

/// A long path whose states are known: each slice's emission alone decides.
TEST(ChainMapOf, ALongChainFollowsItsEmissions) {
  const std::int64_t slices = 20000, states = 5;
  Random random(4);
  std::vector<float> emission;
  std::vector<std::int64_t> path;
  for (std::int64_t t = 0; t < slices; ++t) {
    path.push_back(random.below(states));
    for (std::int64_t b = 0; b < states; ++b) emission.push_back(b == path.back() ? 3.0f : -3.0f);
  }
  const auto got =
      map("(t) a b, t b ->", {Tensor(Dtype::float32, {states, states}), Tensor::of<float>({slices, states}, emission)},
          {.chains = {{"t", {"a->b"}}}});
  EXPECT_EQ(got.assignment.at("b").values, path);
  EXPECT_EQ(got.score.item(), 3.0 * static_cast<double>(slices));
}

}  // namespace
}  // namespace plated::test
