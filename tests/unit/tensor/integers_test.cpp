// Arrays of integers: shapes, entries, indices.
#include "plated/integers.hpp"

#include <gtest/gtest.h>

#include "plated/error.hpp"

namespace plated {
namespace {

TEST(Integers, AreFilledOrGiven) {
  EXPECT_EQ(Integers({2, 3}).values, std::vector<std::int64_t>(6, -1));
  EXPECT_EQ(Integers({2}, 7).values, (std::vector<std::int64_t>{7, 7}));
  const Integers given({2, 2}, std::vector<std::int64_t>{1, 2, 3, 4});
  EXPECT_EQ(given.at({1, 0}), 3);
  EXPECT_EQ(Integers({}, 5).at(std::span<const std::int64_t>{}), 5);
  EXPECT_TRUE(Integers({0, 3}).values.empty());
}

TEST(Integers, CanBeWritten) {
  Integers array({2, 3}, 0);
  const std::int64_t index[] = {1, 2};
  array.at(index) = 9;
  EXPECT_EQ(array.values, (std::vector<std::int64_t>{0, 0, 0, 0, 0, 9}));
  EXPECT_NE(array, Integers({2, 3}, 0));
}

TEST(Integers, RefuseWhatDoesNotFit) {
  EXPECT_THROW(Integers({-1}), SizeError);
  EXPECT_THROW(Integers({2, 2}, std::vector<std::int64_t>{1, 2, 3}), ShapeError);
  const Integers array({2, 3}, 0);
  EXPECT_THROW((void)array.at({2, 0}), ShapeError);
  EXPECT_THROW((void)array.at({0, -1}), ShapeError);
  EXPECT_THROW((void)array.at({0}), ShapeError);
}

}  // namespace
}  // namespace plated
