// Gradients and Hessians of models by hand, and what they refuse.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "plated/error.hpp"
#include "plated/gradient.hpp"

namespace plated::test {
namespace {

TEST(GradientOf, OtherSemiringsDoesNotExist) {
  const Tensor t = Tensor::of<double>({2}, {1, 2});
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product, Semiring::boolean}) {
    EXPECT_THROW((void)value_and_gradient("x->", {t}, {.semiring = semiring}), OptionError) << name(semiring);
    EXPECT_THROW((void)hessian_vector_product("x->", {t}, {t}, {.semiring = semiring}), OptionError) << name(semiring);
  }
}

TEST(GradientOf, RefusesWhatDoesNotFit) {
  const Tensor t = Tensor::of<double>({2}, {1, 2}), longer = Tensor::of<double>({3}, {1, 2, 3});
  EXPECT_THROW((void)value_and_gradient("x->x", {t}, {}, {.cotangents = {longer}, .gradients = {}}), ShapeError);
  EXPECT_THROW((void)value_and_gradient("x->x", {t}, {}, {.cotangents = {}, .gradients = {longer}}), ShapeError);
  EXPECT_THROW((void)value_and_gradient("x->x", {t}, {}, {.cotangents = {t, t}, .gradients = {}}), Error);
  EXPECT_THROW((void)value_and_gradient("x->x", {t}, {}, {.cotangents = {}, .gradients = {t, t}}), Error);
  EXPECT_THROW((void)hessian_vector_product("x->x", {t}, {longer}), ShapeError);
  EXPECT_THROW((void)hessian_vector_product("x->x", {t}, {}), Error);
}

TEST(GradientOf, OffTheDiagonalIsZero) {
  const Tensor square = Tensor::of<double>({2, 2}, {0.5, 7, -3, 1.5});
  EXPECT_EQ(value_and_gradient("xx->", {square}, {.semiring = Semiring::real}).gradients[0].values(),
            (std::vector<double>{1, 0, 0, 1}));
  const std::vector<double> p = value_and_gradient("xx->", {square}).gradients[0].values();
  EXPECT_NEAR(p[0], 1 / (1 + std::exp(1.0)), 1e-15);
  EXPECT_EQ(p[1], 0);
  EXPECT_EQ(p[2], 0);
  EXPECT_NEAR(p[3], 1 / (1 + std::exp(-1.0)), 1e-15);
}

/// One number stands for every slice: its gradient is the sum of theirs.
TEST(GradientOf, ATiedFactorIsTheSumOverItsSlices) {
  const Tensor prior = Tensor::of<double>({2}, {0.3, -0.2}), tied = Tensor::of<double>({2, 2}, {0.5, -1, 0.25, 0.75});
  std::vector<double> repeated;
  for (int t = 0; t < 4; ++t) {
    for (const double x : tied.values()) repeated.push_back(x);
  }
  const std::map<std::string, std::vector<std::string>> chains{{"t", {"a->b"}}};
  const auto one = value_and_gradient("a, (t) a b ->", {prior, tied}, {.chains = chains, .sizes = {{"t", 4}}});
  const auto all =
      value_and_gradient("a, t a b ->", {prior, Tensor::of<double>({4, 2, 2}, repeated)}, {.chains = chains});
  EXPECT_NEAR(one.values[0].item(), all.values[0].item(), 1e-14);
  for (std::int64_t a = 0; a < 2; ++a) {
    for (std::int64_t b = 0; b < 2; ++b) {
      double sum = 0;
      for (std::int64_t t = 0; t < 4; ++t) sum += all.gradients[1].at({t, a, b});
      EXPECT_NEAR(one.gradients[1].at({a, b}), sum, 1e-14);
    }
  }
}

TEST(HessianOf, LogZIsACovariance) {
  // x ~ p over three states: H = diag(p) − p pᵀ.
  const Tensor x = Tensor::of<double>({3}, {std::log(0.2), std::log(0.3), std::log(0.5)});
  const Tensor v = Tensor::of<double>({3}, {1, -2, 4});
  const auto [tangents, products] = hessian_vector_product("x->", {x}, {v});
  const double mean = 0.2 - 0.6 + 2.0;
  EXPECT_NEAR(tangents[0].item(), mean, 1e-14);
  EXPECT_NEAR(products[0].values()[0], 0.2 * (1 - mean), 1e-14);
  EXPECT_NEAR(products[0].values()[1], 0.3 * (-2 - mean), 1e-14);
  EXPECT_NEAR(products[0].values()[2], 0.5 * (4 - mean), 1e-14);
}

}  // namespace
}  // namespace plated::test
