// Powers against their definition, in every semiring and any layout, zeros and numbers that are none included.
#include "kernels/raise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace plated::kernels {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// One number raised to a product of others.
double raised(Semiring semiring, double base, std::vector<double> exponents, int less = 0) {
  const RaiseShape shape{.semiring = semiring,
                         .extent = {},
                         .base_stride = {},
                         .exponent_stride = std::vector<std::vector<std::int64_t>>(exponents.size()),
                         .output_stride = {},
                         .less = less};
  std::vector<const void*> inputs{&base};
  for (const double& e : exponents) inputs.push_back(&e);
  double result = 77;
  raise(shape, inputs, &result, 0, 1);
  return result;
}

TEST(Raise, MultipliesLogarithms) {
  for (const Semiring semiring : {Semiring::log, Semiring::max_plus, Semiring::min_plus}) {
    EXPECT_EQ(raised(semiring, -1.5, {2.5}), -3.75);
    EXPECT_EQ(raised(semiring, -1.5, {2.5}, 1), -2.25);
    EXPECT_EQ(raised(semiring, 3, {0.5, 4}), 6);
    EXPECT_EQ(raised(semiring, 3, {}), 3);
  }
}

TEST(Raise, TakesPowersOfWeights) {
  for (const Semiring semiring : {Semiring::real, Semiring::max_product}) {
    EXPECT_DOUBLE_EQ(raised(semiring, 4, {1.5}), 8);
    EXPECT_DOUBLE_EQ(raised(semiring, 4, {0.5}, 1), 0.5);
    EXPECT_EQ(raised(semiring, 4, {1}), 4);
  }
  EXPECT_DOUBLE_EQ(raised(Semiring::real, -2, {3}), -8);
  EXPECT_TRUE(std::isnan(raised(Semiring::real, -2, {0.5})));
}

TEST(Raise, KeepsTruthUnlessNothingIsLeft) {
  EXPECT_EQ(raised(Semiring::boolean, 1, {0.25}), 1);
  EXPECT_EQ(raised(Semiring::boolean, 0, {0.25}), 0);
  EXPECT_EQ(raised(Semiring::boolean, 0, {0}), 1);
}

TEST(Raise, ToNothingIsOneWhateverWasRaised) {
  for (const Semiring semiring : {Semiring::log, Semiring::max_plus, Semiring::min_plus}) {
    for (const double x : {0.0, 3.0, -infinity, infinity, nan}) {
      EXPECT_EQ(raised(semiring, x, {0}), 0);
      EXPECT_EQ(raised(semiring, x, {1}, 1), 0);
      EXPECT_EQ(raised(semiring, x, {7, 0}), 0);
    }
  }
  for (const Semiring semiring : {Semiring::real, Semiring::max_product, Semiring::boolean}) {
    for (const double x : {0.0, 3.0, infinity, nan}) EXPECT_EQ(raised(semiring, x, {0}), 1);
  }
}

TEST(Raise, OfZeroIsZeroForNegativeExponentsToo) {
  for (const double e : {0.25, 1.0, 3.0}) {
    for (const int less : {0, 2}) {
      EXPECT_EQ(raised(Semiring::log, -infinity, {e}, less), -infinity);
      EXPECT_EQ(raised(Semiring::max_plus, -infinity, {e}, less), -infinity);
      EXPECT_EQ(raised(Semiring::min_plus, infinity, {e}, less), infinity);
      EXPECT_EQ(raised(Semiring::real, 0, {e}, less), 0);
      EXPECT_EQ(raised(Semiring::max_product, 0, {e}, less), 0);
      EXPECT_EQ(raised(Semiring::boolean, 0, {e}, less), 0);
    }
  }
}

TEST(Raise, ReadsAnyStridesInAnyParts) {
  // Loops of 2, 3 and 700: the base is stored with its first two axes swapped, one exponent has the first axis alone,
  // the other the last two; of the output, the last axis comes first.
  constexpr std::int64_t columns = 700;
  const RaiseShape shape{.semiring = Semiring::log,
                         .extent = {2, 3, columns},
                         .base_stride = {columns, 2 * columns, 1},
                         .exponent_stride = {{1, 0, 0}, {0, columns, 1}},
                         .output_stride = {3, 1, 6},
                         .less = 1};
  std::vector<double> base(6 * columns), first{0.5, 2}, second(3 * columns);
  for (std::size_t k = 0; k < base.size(); ++k) base[k] = std::sin(static_cast<double>(k));
  for (std::size_t k = 0; k < second.size(); ++k) second[k] = static_cast<double>(k % 5);
  const std::vector<const void*> inputs{base.data(), first.data(), second.data()};
  std::vector<double> want;
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t a = 0; a < 2; ++a) {
      for (std::int64_t b = 0; b < 3; ++b) {
        want.push_back(base[static_cast<std::size_t>(a * columns + b * 2 * columns + c)] *
                       (first[static_cast<std::size_t>(a)] * second[static_cast<std::size_t>(b * columns + c)] - 1));
      }
    }
  }
  for (std::int64_t grain = 1; grain <= shape.elements(); grain = 2 * grain + 1) {
    std::vector<double> got(want.size() + 1, 77);
    for (std::int64_t k = 0; k < shape.elements(); k += grain) {
      raise(shape, inputs, got.data(), k, std::min(shape.elements(), k + grain));
    }
    EXPECT_EQ(got.back(), 77) << "written beyond the end";
    got.pop_back();
    EXPECT_EQ(got, want) << "in parts of " << grain;
  }
}

}  // namespace
}  // namespace plated::kernels
