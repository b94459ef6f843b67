// Entropies and expectations of random chains against brute force.
#include <gtest/gtest.h>

#include <tuple>

#include "plated/marginals.hpp"
#include "property/chain_case.hpp"

namespace plated::test {
namespace {

/// Errors are measured against log Z, unless it says nothing of how far weights are apart.
testing::AssertionResult check(DrawnChain& drawn, double relative, bool by_total = true) {
  std::vector<Tensor> statistics;
  std::vector<Numbers> values;
  for (const Tensor& t : drawn.tensors()) {
    const bool none = drawn.random.chance(20);
    statistics.push_back(none ? Tensor() : signed_tensor(t.shape(), drawn.random));
    values.push_back(none ? Numbers{} : numbers(statistics.back()));
  }
  const auto ask_entropy = [&] { return entropy(drawn.plan, drawn.tensors(), drawn.run()); };
  const auto ask_mean = [&] { return expectation(drawn.plan, drawn.tensors(), statistics, drawn.run()); };
  oracle::Posterior posterior = drawn.posterior();
  const Numbers totals = posterior.table({});
  if (any_zero(totals, drawn.semiring)) {
    const auto good = impossible([&] { (void)ask_entropy(); });
    return good ? impossible([&] { (void)ask_mean(); }) : good;
  }
  const Tensor::Shape batch = posterior.shape(posterior.axes({}));
  const Numbers h = posterior.entropy(), mean = posterior.expectation(values), log_z = posterior.log_totals();
  Numbers size;
  for (const long double x : log_z) size.push_back((by_total ? std::abs(x) : 0) + 50);
  const auto good = near("entropy", ask_entropy(), batch, h, size, {relative, 0});
  return good ? near("expectation", ask_mean(), batch, mean, size, {relative, 0}) : good;
}

class ChainMoments : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {};

TEST_P(ChainMoments, OfRandomChains) {
  for (const int zeros : {0, 12}) {
    const ChainDraw draw{
        .semiring = std::get<0>(GetParam()), .dtypes = {std::get<1>(GetParam())}, .zero_percent = zeros};
    const double relative = draw.dtypes[0] == Dtype::float32 ? 2e-6 : 1e-13;
    for_each_chain(400, draw, [&](DrawnChain& drawn) { return check(drawn, relative); });
  }
}

TEST_P(ChainMoments, OfChainsInsideChains) {
  const ChainDraw draw{.semiring = std::get<0>(GetParam()),
                       .dtypes = {std::get<1>(GetParam())},
                       .zero_percent = 5,
                       .graphs = {.nested = true}};
  const double relative = draw.dtypes[0] == Dtype::float32 ? 2e-6 : 1e-13;
  for_each_chain(150, draw, [&](DrawnChain& drawn) { return check(drawn, relative); });
}

/// Until posteriors are exact for slices that weigh 1e±300, or are masked with −1e30 in log space.
TEST_P(ChainMoments, OfExtremeMagnitudes) {
  const ChainDraw draw{.semiring = std::get<0>(GetParam()), .dtypes = {std::get<1>(GetParam())}, .extreme = true};
  const double relative = draw.dtypes[0] == Dtype::float32 ? 2e-6 : 1e-13;
  for_each_chain(300, draw, [&](DrawnChain& drawn) { return check(drawn, relative, false); });
}

INSTANTIATE_TEST_SUITE_P(Semirings, ChainMoments,
                         testing::Combine(testing::Values(Semiring::log, Semiring::real),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

/// Fair coins that follow each other: every state is a coin of its own, T + 1 of them.
TEST(ChainEntropy, OfFairCoinsCountsThem) {
  const EinsumOptions options{.chains = {{"t", {"a->b"}}}, .sizes = {{"t", 1000}}};
  const Tensor even = Tensor::of<float>({2, 2}, {0, 0, 0, 0});
  EXPECT_NEAR(entropy("(t) a b ->", {even}, options).item(), 1001 * std::log(2.0), 1e-3);
  const Tensor ones = Tensor::of<float>({2, 2}, {1, 1, 1, 1});
  EXPECT_NEAR(expectation("(t) a b ->", {even}, {ones}, options).item(), 1000, 1e-3);
}

}  // namespace
}  // namespace plated::test
