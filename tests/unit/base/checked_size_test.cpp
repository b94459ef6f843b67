// Products of sizes at the edge of 63 bits.
#include "base/checked_size.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "plated/error.hpp"

namespace plated::base {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t half = std::int64_t{1} << 62;

TEST(CheckedProduct, MultipliesUpToTheLargestSize) {
  EXPECT_EQ(checked_product(6, 7), 42);
  EXPECT_EQ(checked_product(largest, 1), largest);
  EXPECT_EQ(checked_product(half - 1, 2), largest - 1);
  EXPECT_EQ(checked_product(0, largest), 0);
}

TEST(CheckedProduct, RefusesTwoToThe63) {
  EXPECT_THROW((void)checked_product(half, 2), SizeOverflowError);
  EXPECT_THROW((void)checked_product(largest, largest), SizeOverflowError);
}

TEST(CheckedProduct, RefusesNegativeSizesEvenWhereTheirProductIsPositive) {
  EXPECT_THROW((void)checked_product(-1, 2), SizeError);
  EXPECT_THROW((void)checked_product(-2, -3), SizeError);
}

TEST(CheckedProduct, OverflowNamesTheSizes) {
  try {
    (void)checked_product(half, 3);
    FAIL();
  } catch (const SizeOverflowError& error) {
    EXPECT_NE(std::string(error.what()).find("4611686018427387904 and 3"), std::string::npos);
  }
}

TEST(CheckedProduct, OfNoneIsOne) { EXPECT_EQ(checked_product(std::vector<std::int64_t>{}), 1); }

TEST(CheckedProduct, ZeroWinsOverOverflowWhereverItStands) {
  EXPECT_EQ(checked_product(std::vector<std::int64_t>{largest, largest, 0}), 0);
  EXPECT_EQ(checked_product(std::vector<std::int64_t>{0, largest, largest}), 0);
}

TEST(CheckedProduct, NegativeWinsOverZero) {
  EXPECT_THROW((void)checked_product(std::vector<std::int64_t>{0, -1}), SizeError);
}

TEST(CheckedProduct, OfManySizesOverflowsWhenTheLastOneTips) {
  std::vector<std::int64_t> sizes(62, 2);
  EXPECT_EQ(checked_product(sizes), half);
  sizes.push_back(2);
  EXPECT_THROW((void)checked_product(sizes), SizeOverflowError);
}

}  // namespace
}  // namespace plated::base
