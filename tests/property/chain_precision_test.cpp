// Chains whose states pull apart or are impossible: messages in float32 that do not align, and zeros that never become
// NaN.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

constexpr float none = -std::numeric_limits<float>::infinity();
const EinsumOptions hmm{.chains = {{"t", {"a->b"}}}};
const char* const equation = "a, (t) a b, t b ->";

/// Slices that pull in opposite directions: messages whose largest entries do not align.
TEST(ChainPrecision, OfMessagesThatDoNotAlign) {
  for (const float far : {-80.0f, -200.0f, -5000.0f}) {
    const Tensor transition = Tensor::of<float>({2, 2}, {0, far, far, 0});
    std::vector<float> emission;
    for (int t = 0; t < 50; ++t) {
      emission.push_back(t % 2 == 0 ? far : 0);
      emission.push_back(t % 2 == 0 ? 0 : far);
    }
    const std::vector<Tensor> operands = {Tensor::of<float>({2}, {0, far}), transition,
                                          Tensor::of<float>({50, 2}, emission)};
    std::vector<Tensor> wide;
    for (const Tensor& t : operands) wide.push_back(Tensor::of<double>(t.shape(), t.values()));
    const Marginals got = marginals(equation, operands, hmm, {.log = true});
    const Marginals want = marginals(equation, wide, hmm, {.log = true});
    // Two states, so that log Z can be followed by hand: (p, q) → (p + e^far·q, e^far·p + q), weighed.
    long double p = 0, q = far;
    const auto add = [](long double x, long double y) {
      return std::max(x, y) + std::log1p(std::exp(-std::abs(x - y)));
    };
    for (std::size_t t = 0; t < 50; ++t) {
      const long double stay = add(p, q + far), leave = add(p + far, q);
      p = stay + emission[2 * t];
      q = leave + emission[2 * t + 1];
    }
    EXPECT_NEAR(got.log_partition.item(), static_cast<double>(add(p, q)), 1e-6 * (1 + 50 * std::abs(far)));
    EXPECT_NEAR(want.log_partition.item(), static_cast<double>(add(p, q)), 1e-12 * (1 + 50 * std::abs(far)));
    const std::vector<double> x = got.variables.at("b").values(), y = want.variables.at("b").values();
    for (std::size_t k = 0; k < x.size(); ++k) ASSERT_NEAR(x[k], y[k], 2e-5 * (1 + std::abs(y[k]))) << far << " " << k;
  }
}

/// States are left to the right only, and the last one is where it ends.
struct LeftToRight {
  LeftToRight(std::int64_t states, std::int64_t slices) {
    Random random(7);
    std::vector<float> start(static_cast<std::size_t>(states), none), steps, end(start);
    start[0] = 0;
    end.back() = 0;
    for (std::int64_t a = 0; a < states; ++a) {
      for (std::int64_t b = 0; b < states; ++b) {
        steps.push_back(b == a || b == a + 1 ? static_cast<float>(random.uniform(-2, 0)) : none);
      }
    }
    operands = {Tensor::of<float>({states}, start), Tensor::of<float>({states, states}, steps),
                random_tensor(Dtype::float32, {slices, states}, random, Semiring::log),
                Tensor::of<float>({states}, end)};
  }
  std::vector<Tensor> operands;
};

void expect_no_nan(const Tensor& tensor, const char* what) {
  for (const double x : tensor.values()) ASSERT_FALSE(std::isnan(x)) << what;
}

TEST(ChainPrecision, OfLeftToRightModelsIsNeverNan) {
  const char* const ended = "a, (t) a b, t b, b$ ->";
  for (const auto& [states, slices] : {std::pair<std::int64_t, std::int64_t>{5, 4}, {5, 400}, {40, 60}, {3, 20000}}) {
    const LeftToRight model(states, slices);
    const Marginals got = marginals(ended, model.operands, hmm, {.factors = true, .ends = true});
    const Marginals in_logs = marginals(ended, model.operands, hmm, {.log = true});
    for (const auto& [variable, tensor] : got.variables) expect_no_nan(tensor, variable.c_str());
    for (const auto& [variable, tensor] : in_logs.variables) expect_no_nan(tensor, variable.c_str());
    for (const Tensor& tensor : got.factors) expect_no_nan(tensor, "factor");
    const ValueAndGradient gradient = value_and_gradient(ended, model.operands, hmm);
    for (const Tensor& tensor : gradient.gradients) expect_no_nan(tensor, "gradient");
    EXPECT_TRUE(std::isfinite(gradient.values[0].item()));
    EXPECT_TRUE(std::isfinite(entropy(ended, model.operands, hmm).item()));
    EXPECT_NEAR(got.variables.at("b$").at({states - 1}), 1, 1e-6);
    EXPECT_NEAR(got.variables.at("^a").at({0}), 1, 1e-6);
    const auto best = map(ended, model.operands, hmm);
    const auto draws = sample(ended, model.operands, {.count = 3, .seed = 1}, hmm);
    for (std::int64_t t = 0; t < slices; ++t) {
      const std::int64_t step = best.assignment.at("b").at({t}) - best.assignment.at("a").at({t});
      ASSERT_TRUE(step == 0 || step == 1) << "slice " << t;
      for (std::int64_t s = 0; s < 3; ++s) {
        const std::int64_t drawn = draws.at("b").at({s, t}) - draws.at("a").at({s, t});
        ASSERT_TRUE(drawn == 0 || drawn == 1) << "sample " << s << " slice " << t;
      }
    }
    EXPECT_EQ(best.assignment.at("b").at({slices - 1}), states - 1);
  }
}

TEST(ChainPrecision, OfAnImpossibleChainIsNeverNan) {
  const LeftToRight model(6, 4);  // too short to reach the end
  const char* const ended = "a, (t) a b, t b, b$ ->";
  EXPECT_EQ(einsum(ended, model.operands, hmm).item(), none);
  for (const Tensor& gradient : value_and_gradient(ended, model.operands, hmm).gradients) {
    for (const double x : gradient.values()) EXPECT_EQ(x, 0);
  }
  EXPECT_THROW((void)marginals(ended, model.operands, hmm), ImpossibleError);
  EXPECT_THROW((void)map(ended, model.operands, hmm), ImpossibleError);
  EXPECT_THROW((void)sample(ended, model.operands, {}, hmm), ImpossibleError);
}

}  // namespace
}  // namespace plated::test
