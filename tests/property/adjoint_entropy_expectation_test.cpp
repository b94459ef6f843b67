// Entropies and expectations of additive statistics on random plated graphs, against the brute-force posterior.
#include <gtest/gtest.h>

#include <tuple>

#include "plated/marginals.hpp"
#include "property/adjoint_case.hpp"

namespace plated::test {
namespace {

/// The largest logarithm that a weight may have in these graphs: entropies are differences of such numbers.
long double log_scale(const Drawn& drawn) {
  long double sum = 10;
  for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
    long double slices = 1;
    for (const DimId p : drawn.graph.factor_plates(f)) slices *= static_cast<long double>(drawn.graph.dims()[p].size);
    sum += 4 * slices;
  }
  return sum;
}

testing::AssertionResult check_entropy(Drawn& drawn, const Bound& bound) {
  oracle::Posterior posterior = drawn.posterior();
  const auto ask = [&] { return entropy(drawn.plan, drawn.tensors(), drawn.run()); };
  if (any_zero(posterior.table({}), drawn.semiring)) return impossible([&] { (void)ask(); });
  const Numbers want = posterior.entropy();
  return near("entropy", ask(), posterior.shape(posterior.axes({})), want, Numbers(want.size(), log_scale(drawn)),
              bound);
}

testing::AssertionResult check_expectation(Drawn& drawn, const Bound& bound) {
  std::vector<Tensor> statistics;
  std::vector<Numbers> values, sizes;
  for (const Tensor& operand : drawn.tensors()) {
    const bool given = drawn.random.chance(75);
    const Dtype dtype = drawn.random.chance(50) ? Dtype::float32 : Dtype::float64;
    statistics.push_back(given ? signed_tensor(operand.shape(), drawn.random, dtype) : Tensor());
    values.push_back(given ? numbers(statistics.back()) : Numbers{});
    sizes.push_back(values.back());
    for (long double& x : sizes.back()) x = std::abs(x);
  }
  oracle::Posterior posterior = drawn.posterior();
  const auto ask = [&] { return expectation(drawn.plan, drawn.tensors(), statistics, drawn.run()); };
  if (any_zero(posterior.table({}), drawn.semiring)) return impossible([&] { (void)ask(); });
  return near("expectation", ask(), posterior.shape(posterior.axes({})), posterior.expectation(values),
              posterior.expectation(sizes), bound);
}

class EntropyAndExpectation : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  [[nodiscard]] Draw draw(int zero_percent, bool extreme = false) const {
    return {.semiring = std::get<0>(GetParam()),
            .dtypes = {std::get<1>(GetParam())},
            .zero_percent = zero_percent,
            .extreme = extreme};
  }
};

/// Until posteriors are exact for slices that weigh 1e±300, or are masked with −1e30 in log space.
TEST_P(EntropyAndExpectation, OfExtremeMagnitudes) {
  const Draw d = draw(0, true);
  // Logarithms of weights are as large as 700.
  const Bound within{d.dtypes[0] == Dtype::float32 ? 1e-5 : 1e-12, 0};
  for_each_tractable(500, d, [&](Drawn& drawn) { return check_entropy(drawn, within); });
  for_each_tractable(500, d, [&](Drawn& drawn) { return check_expectation(drawn, bound(d.dtypes)); });
}

TEST_P(EntropyAndExpectation, EntropyOfRandomGraphs) {
  for (const int zeros : {0, 12}) {
    const Draw d = draw(zeros);
    // Rounding counts against the logarithms that cancel.
    const Bound within{d.dtypes[0] == Dtype::float32 ? 1e-6 : 1e-14, 0};
    for_each_tractable(700, d, [&](Drawn& drawn) { return check_entropy(drawn, within); });
  }
}

TEST_P(EntropyAndExpectation, ExpectationOfRandomGraphs) {
  for (const int zeros : {0, 12}) {
    const Draw d = draw(zeros);
    for_each_tractable(700, d, [&](Drawn& drawn) { return check_expectation(drawn, bound(d.dtypes)); });
  }
}

INSTANTIATE_TEST_SUITE_P(Semirings, EntropyAndExpectation,
                         testing::Combine(testing::Values(Semiring::log, Semiring::real),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

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

}  // namespace
}  // namespace plated::test
