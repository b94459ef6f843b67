// Posteriors of a million slices in float32: log Z near −1e7, and a shared variable that they do not determine.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "plated/gradient.hpp"
#include "plated/marginals.hpp"
#include "property/random_case.hpp"

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
TEST(AdjointPrecision, OfAMillionSlicesThatCancelInPairs) {
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
TEST(AdjointPrecision, OfAMillionDifferentSlices) {
  Balanced model;
  Random random(2);
  for (std::size_t k = 0; k < slices * 2 * states; ++k) model.g.push_back(static_cast<float>(random.uniform(-14, -8)));
  model.settle(0.4);
  check(model, 1e-5);
}

TEST(AdjointPrecision, OfSlicesThatAllAgree) {
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
TEST(AdjointPrecision, OfALongRowOfFloats) {
  Random random(3);
  std::vector<Tensor> narrow, wide;
  std::string equation;
  for (int k = 0; k < 1000; ++k) {
    std::vector<float> entries(16);
    for (float& x : entries) x = static_cast<float>(random.uniform(-11, -9));
    narrow.push_back(Tensor::of<float>({4, 4}, entries));
    wide.push_back(Tensor::of<double>({4, 4}, std::vector<double>(entries.begin(), entries.end())));
    equation += (k == 0 ? "x" : ", x") + std::to_string(k) + " x" + std::to_string(k + 1);
  }
  equation += " ->";
  for (const bool log : {false, true}) {
    const Marginals got = marginals(equation, narrow, {}, {.log = log});
    const Marginals want = marginals(equation, wide, {}, {.log = log});
    for (const auto& [name, probabilities] : want.variables) {
      for (std::int64_t x = 0; x < 4; ++x) {
        ASSERT_NEAR(got.variables.at(name).at({x}), probabilities.at({x}), 1e-5) << name << (log ? " in log" : "");
      }
    }
  }
  EXPECT_NEAR(entropy(equation, narrow).item(), entropy(equation, wide).item(), 1e-5 * 1250);
  const ValueAndGradient got = value_and_gradient(equation, narrow);
  const ValueAndGradient want = value_and_gradient(equation, wide);
  for (std::size_t k = 0; k < 1000; ++k) {
    ASSERT_NEAR(got.gradients[k].at({0, 1}), want.gradients[k].at({0, 1}), 1e-5) << k;
  }
}

TEST(AdjointPrecision, OfLargeEntriesOfFloats) {
  for (const float level : {-1e5f, -1e6f, 1e6f}) {
    const Tensor f = Tensor::of<float>({3}, {level, level, level});
    EXPECT_NEAR(marginals("x->", {f}).variables.at("x").at({1}), 1.0 / 3, 1e-6) << level;
    EXPECT_NEAR(marginals("x->", {f}, {}, {.log = true}).variables.at("x").at({1}), std::log(1.0 / 3), 1e-6) << level;
  }
}

TEST(AdjointPrecision, OfManyTermsOfAnEntropy) {
  std::vector<Tensor> coins(10000, Tensor::of<float>({2}, {0, 0}));
  std::string equation;
  for (int k = 0; k < 10000; ++k) equation += (k == 0 ? "x" : ", x") + std::to_string(k);
  EXPECT_NEAR(entropy(equation + " ->", coins, {.spaced = true}).item(), 10000 * std::log(2.0), 1e-3);
}

/// Weights whose logarithms float32 would round, each time by the same amount.
TEST(AdjointPrecision, OfRealWeightsInManySlices) {
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

}  // namespace
}  // namespace plated::test
