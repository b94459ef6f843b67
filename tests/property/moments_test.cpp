// Entropies and expectations of additive statistics of random models, against the brute-force posterior.
#include <gtest/gtest.h>

#include "plated/marginals.hpp"
#include "property/drawn_model.hpp"
#include "property/near.hpp"

namespace plated::test {
namespace {

/// The largest logarithm that a weight may have in these graphs: entropies are differences of such numbers.
long double log_scale(const DrawnModel& drawn) {
  long double sum = 10;
  for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
    long double slices = 1;
    for (const DimId p : drawn.graph.factor_plates(f)) slices *= static_cast<long double>(drawn.graph.dims()[p].size);
    sum += 4 * slices;
  }
  return sum;
}

/// What errors of moments of chains are measured against: log Z, unless it says nothing of how far weights are apart.
Numbers chain_scale(const DrawnModel& drawn, oracle::Posterior& posterior) {
  Numbers size;
  for (const long double x : posterior.log_totals()) size.push_back((drawn.extreme ? 0 : std::abs(x)) + 50);
  return size;
}

/// Rounding counts against the logarithms that cancel.
testing::AssertionResult check_entropy(DrawnModel& drawn, Dtype dtype) {
  oracle::Posterior posterior = drawn.posterior();
  const auto ask = [&] { return entropy(drawn.plan, drawn.tensors(), drawn.run()); };
  if (any_zero(posterior.table({}), drawn.semiring)) return impossible([&] { (void)ask(); });
  const bool single = dtype == Dtype::float32;
  const Numbers want = posterior.entropy();
  const Tensor::Shape batch = posterior.shape(posterior.axes({}));
  if (!drawn.c.chains.empty()) {
    return near("entropy", ask(), batch, want, chain_scale(drawn, posterior), {single ? 2e-6 : 1e-13, 0});
  }
  // Logarithms of extreme weights are as large as 700.
  const Bound within = drawn.extreme ? Bound{single ? 1e-5 : 1e-12, 0} : Bound{single ? 1e-6 : 1e-14, 0};
  return near("entropy", ask(), batch, want, Numbers(want.size(), log_scale(drawn)), within);
}

testing::AssertionResult check_expectation(DrawnModel& drawn, Dtype dtype) {
  std::vector<Tensor> statistics;
  std::vector<Numbers> values, sizes;
  for (const Tensor& operand : drawn.tensors()) {
    const bool given = drawn.random.chance(75);
    const Dtype own = drawn.random.chance(50) ? Dtype::float32 : Dtype::float64;
    statistics.push_back(given ? signed_tensor(operand.shape(), drawn.random, own) : Tensor());
    values.push_back(given ? numbers(statistics.back()) : Numbers{});
    sizes.push_back(values.back());
    for (long double& x : sizes.back()) x = std::abs(x);
  }
  oracle::Posterior posterior = drawn.posterior();
  const auto ask = [&] { return expectation(drawn.plan, drawn.tensors(), statistics, drawn.run()); };
  if (any_zero(posterior.table({}), drawn.semiring)) return impossible([&] { (void)ask(); });
  const Tensor got = ask();
  const Tensor::Shape batch = posterior.shape(posterior.axes({}));
  const Numbers want = posterior.expectation(values);
  const auto good = near("expectation", got, batch, want, posterior.expectation(sizes), bound({dtype}));
  if (!good || drawn.c.chains.empty()) return good;
  return near("expectation", got, batch, want, chain_scale(drawn, posterior),
              {dtype == Dtype::float32 ? 2e-6 : 1e-13, 0});
}

class Moments : public OfModels {};

TEST_P(Moments, HaveTheEntropyOfThePosterior) {
  for_each_model(models(), [](DrawnModel& drawn) { return check_entropy(drawn, dtype()); });
}

TEST_P(Moments, HaveExpectationsUnderThePosterior) {
  for_each_model(models(), [](DrawnModel& drawn) { return check_expectation(drawn, dtype()); });
}

INSTANTIATE_TEST_SUITE_P(
    Of, Moments,
    testing::Combine(
        testing::Values(Models{"plates", 700}, Models{"plates_with_zeros", 700, {.zero_percent = 12}},
                        Models{"plates_of_extreme_magnitudes", 500, {.extreme = true}},
                        Models{"chains", 400, {.graphs = ChainOptions{}}},
                        Models{"chains_with_zeros", 400, {.zero_percent = 12, .graphs = ChainOptions{}}},
                        Models{"chains_of_extreme_magnitudes", 300, {.extreme = true, .graphs = ChainOptions{}}},
                        Models{"chains_in_chains", 150, {.zero_percent = 5, .graphs = ChainOptions{.nested = true}}}),
        sum_semirings, both_dtypes),
    models_name);

TEST(Entropy, ByHand) {
  const Tensor fair = Tensor::of<double>({3, 2}, {1, 1, 5, 5, 0, 0});
  EXPECT_NEAR(entropy("ix->", {fair}, {.plates = "i"}).item(), 3 * std::log(2.0), 1e-14);
  const double none = -std::numeric_limits<double>::infinity();
  const Tensor sure = Tensor::of<double>({2}, {none, 3});
  EXPECT_NEAR(entropy("x->", {sure}).item(), 0, 1e-15);
  const Tensor weights = Tensor::of<double>({4}, {1, 2, 3, 4}), coin = Tensor::of<double>({2}, {0, 0});
  EXPECT_NEAR(entropy("i,(i)y->", {weights, coin}, {.plates = "i"}).item(), 4 * std::log(2.0), 1e-14);
}

TEST(Expectation, ByHand) {
  // A count of heads: five coins of probability 0.3.
  const Tensor coin = Tensor::of<double>({2}, {std::log(0.7), std::log(0.3)});
  const Tensor heads = Tensor::of<double>({2}, {0, 1});
  EXPECT_NEAR(expectation("(i)x->", {coin}, {heads}, {.plates = "i", .sizes = {{"i", 5}}}).item(), 1.5, 1e-14);
  EXPECT_EQ(expectation("(i)x->", {coin}, {Tensor()}, {.plates = "i", .sizes = {{"i", 5}}}).item(), 0);
}

TEST(Expectation, RefusesWhatDoesNotFit) {
  const Tensor t = Tensor::of<double>({2}, {1, 2}), longer = Tensor::of<double>({3}, {1, 2, 3});
  EXPECT_THROW((void)expectation("x->", {t}, {longer}), ShapeError);
  EXPECT_THROW((void)expectation("x->", {t}, {t, t}), Error);
  EXPECT_THROW((void)expectation("x->", {t}, {}), Error);
  EXPECT_THROW((void)expectation("x->", {t}, {t}, {.semiring = Semiring::max_plus}), OptionError);
  EXPECT_THROW((void)entropy("x->", {t}, {.semiring = Semiring::max_plus}), OptionError);
}

/// Fair coins that follow each other: every state is a coin of its own, T + 1 of them.
TEST(Entropy, OfFairCoinsInAChainCountsThem) {
  const EinsumOptions options{.chains = {{"t", {"a->b"}}}, .sizes = {{"t", 1000}}};
  const Tensor even = Tensor::of<float>({2, 2}, {0, 0, 0, 0});
  EXPECT_NEAR(entropy("(t) a b ->", {even}, options).item(), 1001 * std::log(2.0), 1e-3);
  const Tensor ones = Tensor::of<float>({2, 2}, {1, 1, 1, 1});
  EXPECT_NEAR(expectation("(t) a b ->", {even}, {ones}, options).item(), 1000, 1e-3);
}

}  // namespace
}  // namespace plated::test
