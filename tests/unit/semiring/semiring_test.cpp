// The semiring structs: their laws, their zeros and ones, and their names.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "plated/error.hpp"
#include "plated/semiring.hpp"
#include "semiring/dispatch.hpp"

namespace plated::semiring {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Semiring all[] = {Semiring::real,     Semiring::log,         Semiring::max_plus,
                            Semiring::min_plus, Semiring::max_product, Semiring::boolean};

void expect_same(double a, double b) {
  if (std::isinf(a) || std::isinf(b)) {
    EXPECT_EQ(a, b);
  } else {
    EXPECT_NEAR(a, b, 1e-12 * std::max(1.0, std::abs(a)));
  }
}

TEST(Semirings, ObeyTheLaws) {
  for (const Semiring which : all) {
    SCOPED_TRACE(name(which));
    dispatch(which, [](auto ring) {
      // Not all are entries of every semiring's domain, but the laws hold on the domain's part of them.
      const double entries[] = {ring.zero(), ring.one(), 0.25, 3.0, 1.0};
      for (const double a : entries) {
        const double normal = ring.multiply(a, ring.one());  // boolean: the truth of a
        expect_same(ring.add(a, ring.zero()), normal);
        expect_same(ring.multiply(a, ring.zero()), ring.zero());
        for (const double b : entries) {
          expect_same(ring.add(a, b), ring.add(b, a));
          expect_same(ring.multiply(a, b), ring.multiply(b, a));
          for (const double c : entries) {
            expect_same(ring.add(ring.add(a, b), c), ring.add(a, ring.add(b, c)));
            expect_same(ring.multiply(a, ring.add(b, c)), ring.add(ring.multiply(a, b), ring.multiply(a, c)));
          }
        }
      }
    });
  }
}

TEST(Semirings, PowerIsRepeatedMultiplication) {
  for (const Semiring which : all) {
    SCOPED_TRACE(name(which));
    dispatch(which, [](auto ring) {
      for (const double x : {ring.zero(), ring.one(), 0.25, 3.0}) {
        double product = ring.one();
        for (std::int64_t n = 0; n < 6; ++n) {
          expect_same(ring.power(x, n), product);
          product = ring.multiply(product, x);
        }
      }
      const std::int64_t many = 1'000'000'000'000'000'000;
      EXPECT_EQ(ring.power(ring.zero(), many), ring.zero());
      EXPECT_EQ(ring.power(ring.one(), many), ring.one());
    });
  }
  EXPECT_EQ(Real::power(-1.0, 999'999'999'999'999'999), -1.0);
  EXPECT_EQ(Real::power(-1.0, 1'000'000'000'000'000'000), 1.0);
}

TEST(Semirings, ZeroTimesInfinityIsZero) {
  EXPECT_EQ(Real::multiply(0.0, infinity), 0.0);
  EXPECT_EQ(Real::multiply(-infinity, 0.0), 0.0);
  EXPECT_EQ(MaxProduct::multiply(infinity, 0.0), 0.0);
  EXPECT_EQ(Log::multiply(-infinity, infinity), -infinity);
  EXPECT_EQ(MinPlus::multiply(-infinity, infinity), infinity);
}

TEST(Log, AddsWithoutNanOrOverflow) {
  EXPECT_EQ(Log::add(-infinity, -infinity), -infinity);
  EXPECT_EQ(Log::add(-infinity, 2.0), 2.0);
  EXPECT_DOUBLE_EQ(Log::add(1000.0, 1000.0), 1000.0 + std::log(2.0));
  EXPECT_DOUBLE_EQ(Log::add(-1e30, 5.0), 5.0);
}

TEST(SemiringNames, RoundTrip) {
  for (const Semiring which : all) EXPECT_EQ(semiring_named(name(which)), which);
}

TEST(SemiringNames, UnknownOnesAreRefusedWithTheList) {
  try {
    (void)semiring_named("tropical");
    FAIL() << "accepted";
  } catch (const UnknownNameError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("tropical"), std::string::npos);
    EXPECT_NE(text.find("max_plus"), std::string::npos);
  }
}

}  // namespace
}  // namespace plated::semiring
