// Posteriors of a million slices in float32: log Z near −1e7, in plates that do not determine what they share, and in
// chains.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "plated/gradient.hpp"
#include "plated/marginals.hpp"
#include "property/chain_forward_backward.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

constexpr std::size_t slices = 1000000, states = 2;

/// x global, y in plate i; f(x) and g(i, x, y) in float32, with the exact answer in long double.
struct Balanced {
  std::vector<float> f, g;
  long double log_z = 0;
  long double p[2];                // of x
  std::vector<long double> given;  // p(y | x, i): axes i, x, y
  std::vector<Tensor> operands() const {
    return {Tensor::view(f.data(), {2}), Tensor::view(g.data(), {slices, 2, states})};
  }

  /// Fills in the answer; `offset` is how much the slices and the prior favour x = 1 in the end.
  void settle(double offset) {
    long double total[2] = {0, 0};
    given.resize(g.size());
    for (std::size_t row = 0; row < g.size(); row += states) {
      const long double a = std::exp(static_cast<long double>(g[row])),
                        b = std::exp(static_cast<long double>(g[row + 1]));
      total[row / states % 2] += std::log(a + b);
      given[row] = a / (a + b);
      given[row + 1] = b / (a + b);
    }
    f = {0, static_cast<float>(offset - static_cast<double>(total[1] - total[0]))};
    const long double odds = total[1] + f[1] - total[0];  // of f as float32 holds it
    p[1] = 1 / (1 + std::exp(-odds));
    p[0] = 1 - p[1];
    log_z = total[0] + std::log1p(std::exp(odds));
  }
};

void check(const Balanced& model, double most) {
  EXPECT_LT(model.log_z, -9e6L);
  EXPECT_GT(model.p[0], 0.2L);
  EXPECT_GT(model.p[1], 0.2L);
  const Marginals got = marginals("x,ixy->", model.operands(), {.plates = "i"});
  EXPECT_NEAR(got.log_partition.item(), static_cast<double>(model.log_z), 10);  // float32
  const double x_error = std::abs(got.variables.at("x").values()[1] - static_cast<double>(model.p[1]));
  const std::vector<double> y = got.variables.at("y").values();
  const std::vector<double> joint =
      value_and_gradient("x,ixy->", model.operands(), {.plates = "i"}).gradients[1].values();
  double y_error = 0, gradient_error = 0;
  for (std::size_t i = 0; i < slices; ++i) {
    for (std::size_t s = 0; s < states; ++s) {
      long double want = 0;
      for (std::size_t x = 0; x < 2; ++x) {
        const std::size_t k = (i * 2 + x) * states + s;
        want += model.p[x] * model.given[k];
        const double error = std::abs(joint[k] - static_cast<double>(model.p[x] * model.given[k]));
        gradient_error = error <= gradient_error ? gradient_error : error;  // a NaN must not hide
      }
      const double error = std::abs(y[i * states + s] - static_cast<double>(want));
      y_error = error <= y_error ? y_error : error;
    }
  }
  std::cout << "1e6 slices, float32: errors of p(x) " << x_error << ", p(y) " << y_error << ", gradient "
            << gradient_error << "\n";
  EXPECT_LE(x_error, most);
  EXPECT_LE(y_error, most);
  EXPECT_LE(gradient_error, most);
}

/// Slices come in pairs that favour either value by the same amount, so that what is left is the prior's offset.
TEST(PosteriorPrecision, OfAMillionSlicesThatCancelInPairs) {
  Balanced model;
  Random random(1);
  for (std::size_t pair = 0; pair < slices / 2; ++pair) {
    const auto draw = [&] { return static_cast<float>(random.uniform(-14, -8)); };
    const float a = draw(), b = draw(), c = draw(), d = draw();
    for (const float entry : {a, b, c, d, c, d, a, b}) model.g.push_back(entry);
  }
  model.settle(0.4);
  EXPECT_EQ(model.f[1], 0.4F);
  check(model, 1e-5);
}

/// No two slices alike: the prior alone balances what a million random slices add up to.
TEST(PosteriorPrecision, OfAMillionDifferentSlices) {
  Balanced model;
  Random random(2);
  for (std::size_t k = 0; k < slices * 2 * states; ++k) model.g.push_back(static_cast<float>(random.uniform(-14, -8)));
  model.settle(0.4);
  check(model, 1e-5);
}

TEST(PosteriorPrecision, OfSlicesThatAllAgree) {
  // What is all but impossible still has its logarithm.
  const std::int64_t n = 100000;
  std::vector<double> g;
  for (std::int64_t i = 0; i < n; ++i) g.insert(g.end(), {-10, -10.5});
  const Tensor f = Tensor::of<double>({2}, {0, 0}), t = Tensor::of<double>({n, 2}, g);
  const Marginals p = marginals("x,ix->", {f, t}, {.plates = "i"}, {.log = true});
  EXPECT_NEAR(p.variables.at("x").values()[1], -50000, 1e-7);
  EXPECT_EQ(p.variables.at("x").values()[0], 0);
}

/// A row of variables with four states, in float32 and, with the very same entries, in float64.
TEST(PosteriorPrecision, OfALongRowOfFloats) {
  Random random(3);
  std::vector<Tensor> narrow, wide;
  std::string row;
  for (int k = 0; k < 1000; ++k) {
    std::vector<float> entries(16);
    for (float& x : entries) x = static_cast<float>(random.uniform(-11, -9));
    narrow.push_back(Tensor::of<float>({4, 4}, entries));
    wide.push_back(Tensor::of<double>({4, 4}, std::vector<double>(entries.begin(), entries.end())));
    row += (k == 0 ? "x" : ", x") + std::to_string(k) + " x" + std::to_string(k + 1);
  }
  row += " ->";
  for (const bool log : {false, true}) {
    const Marginals got = marginals(row, narrow, {}, {.log = log});
    const Marginals want = marginals(row, wide, {}, {.log = log});
    for (const auto& [name, probabilities] : want.variables) {
      for (std::int64_t x = 0; x < 4; ++x) {
        ASSERT_NEAR(got.variables.at(name).at({x}), probabilities.at({x}), 1e-5) << name << (log ? " in log" : "");
      }
    }
  }
  EXPECT_NEAR(entropy(row, narrow).item(), entropy(row, wide).item(), 1e-5 * 1250);
  const ValueAndGradient got = value_and_gradient(row, narrow);
  const ValueAndGradient want = value_and_gradient(row, wide);
  for (std::size_t k = 0; k < 1000; ++k) {
    ASSERT_NEAR(got.gradients[k].at({0, 1}), want.gradients[k].at({0, 1}), 1e-5) << k;
  }
}

TEST(PosteriorPrecision, OfLargeEntriesOfFloats) {
  for (const float level : {-1e5f, -1e6f, 1e6f}) {
    const Tensor f = Tensor::of<float>({3}, {level, level, level});
    EXPECT_NEAR(marginals("x->", {f}).variables.at("x").at({1}), 1.0 / 3, 1e-6) << level;
    EXPECT_NEAR(marginals("x->", {f}, {}, {.log = true}).variables.at("x").at({1}), std::log(1.0 / 3), 1e-6) << level;
  }
}

TEST(PosteriorPrecision, OfManyTermsOfAnEntropy) {
  std::vector<Tensor> coins(10000, Tensor::of<float>({2}, {0, 0}));
  std::string row;
  for (int k = 0; k < 10000; ++k) row += (k == 0 ? "x" : ", x") + std::to_string(k);
  EXPECT_NEAR(entropy(row + " ->", coins, {.spaced = true}).item(), 10000 * std::log(2.0), 1e-3);
}

/// Weights whose logarithms float32 would round, each time by the same amount.
TEST(PosteriorPrecision, OfRealWeightsInManySlices) {
  constexpr std::int64_t throws = 100000;
  std::vector<float> table;
  double log_odds = 0;
  for (std::int64_t i = 0; i < throws; ++i) {
    const float a = i % 2 == 0 ? 0.7f : 0.3f, b = i % 2 == 0 ? 0.42f : 0.5f;
    table.insert(table.end(), {a, b});
    log_odds += std::log(static_cast<double>(a)) - std::log(static_cast<double>(b));
  }
  const Tensor prior = Tensor::of<double>({2}, {1, std::exp(log_odds)});
  const Tensor likelihood = Tensor::of<float>({throws, 2}, table);
  const Marginals got = marginals("x,ix->", {prior, likelihood}, {.plates = "i", .semiring = Semiring::real});
  EXPECT_NEAR(got.variables.at("x").at({0}), 0.5, 1e-5);
}

const EinsumOptions hmm{.chains = {{"t", {"a->b"}}}};
const char* const equation = "a, (t) a b, t b ->";

/// Near −10 per slice, rounded to float32; the recursions in double get the rounded numbers, too.
TEST(PosteriorPrecision, OfAChainOfAMillionSlices) {
#ifdef NDEBUG
  const std::int64_t length = 1000000;
#else
  const std::int64_t length = 100000;
#endif
  const std::int64_t domain = 4;
  Random random(1);
  std::vector<float> emission(static_cast<std::size_t>(length * domain));
  for (float& x : emission) x = static_cast<float>(random.uniform(-16, -13));
  const Tensor prior = random_tensor(Dtype::float32, {domain}, random, Semiring::log);
  const Tensor transition = random_tensor(Dtype::float32, {domain, domain}, random, Semiring::log);
  const std::vector<Tensor> operands = {prior, transition, Tensor::of<float>({length, domain}, emission)};
  const HandPosterior want = forward_backward({static_cast<std::size_t>(domain), prior.values(), transition.values(),
                                               std::vector<double>(emission.begin(), emission.end())});
  EXPECT_NEAR(want.log_partition, -10 * static_cast<double>(length), 2 * static_cast<double>(length));
  const double allowed = 1e-6 * std::abs(want.log_partition);
  EXPECT_NEAR(einsum(equation, operands, hmm).item(), want.log_partition, allowed);
  const Marginals got = marginals(equation, operands, hmm);
  EXPECT_NEAR(got.log_partition.item(), want.log_partition, allowed);
  const std::vector<double> b = got.variables.at("b").values(), a = got.variables.at("a").values();
  double worst = 0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    // Written so that NaN counts.
    if (!(std::abs(b[k] - want.after[k]) <= worst)) worst = std::abs(b[k] - want.after[k]);
    if (!(std::abs(a[k] - want.before[k]) <= worst)) worst = std::abs(a[k] - want.before[k]);
  }
  EXPECT_LE(worst, 1e-5);
  const ValueAndGradient gradient = value_and_gradient(equation, operands, hmm);
  const std::vector<double> by_emission = gradient.gradients[2].values();
  worst = 0;
  for (std::size_t k = 0; k < by_emission.size(); ++k) {
    if (!(std::abs(by_emission[k] - want.after[k]) <= worst)) worst = std::abs(by_emission[k] - want.after[k]);
  }
  EXPECT_LE(worst, 1e-5);
  // A tied factor's gradient is the expected number of transitions: they sum to the number of slices.
  double transitions = 0;
  for (const double x : gradient.gradients[1].values()) transitions += x;
  EXPECT_NEAR(transitions, static_cast<double>(length), 1e-5 * static_cast<double>(length));
}

/// Weights that would underflow or overflow a double after a few length.
TEST(PosteriorPrecision, OfRealWeightsInALongChain) {
  EinsumOptions options = hmm;
  options.semiring = Semiring::real;
  for (const float level : {1e-3f, 1e3f}) {
    const std::int64_t length = 400;
    std::vector<float> emission;
    for (std::int64_t t = 0; t < length; ++t) emission.insert(emission.end(), {level, 2 * level});
    const std::vector<Tensor> operands = {Tensor::of<float>({2}, {0.5, 0.5}),
                                          Tensor::of<float>({2, 2}, {0.9f, 0.1f, 0.2f, 0.8f}),
                                          Tensor::of<float>({length, 2}, emission)};
    HandHmm logs{2, {}, {}, {}};
    for (const double x : operands[0].values()) logs.prior.push_back(std::log(x));
    for (const double x : operands[1].values()) logs.transition.push_back(std::log(x));
    for (const double x : operands[2].values()) logs.emission.push_back(std::log(x));
    const HandPosterior want = forward_backward(logs);
    const Marginals got = marginals(equation, operands, options);
    EXPECT_NEAR(got.log_partition.item(), want.log_partition, 1e-6 * std::abs(want.log_partition));
    const std::vector<double> b = got.variables.at("b").values();
    for (std::size_t k = 0; k < b.size(); ++k) ASSERT_NEAR(b[k], want.after[k], 1e-5) << level << " " << k;
  }
}

}  // namespace
}  // namespace plated::test
