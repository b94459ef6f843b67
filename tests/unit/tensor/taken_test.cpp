// Slices of arrays of integers: views of neighbours, copies of others.
#include "tensor/taken.hpp"

#include <gtest/gtest.h>

#include "plated/error.hpp"
#include "tensor/check_entries.hpp"

namespace plated::tensor {
namespace {

using Values = std::vector<std::int64_t>;

TEST(Taken, NeighboursAreAView) {
  const std::vector<std::int8_t> entries{0, 1, 2, 3, 4, 5, 6, 7};
  const IntegerView all = IntegerView::view(entries.data(), {4, 2});
  const IntegerView middle = taken(all, 0, {1, 2});
  EXPECT_EQ(middle.values(), (Values{2, 3, 4, 5}));
  EXPECT_EQ(middle.data(), entries.data() + 2);
  EXPECT_EQ(taken(all, 1, {1}).values(), (Values{1, 3, 5, 7}));
  EXPECT_EQ(taken(all, 0, {}).shape(), (Values{0, 2}));
  EXPECT_THROW((void)taken(all, 0, {3, 4}), ShapeError);
}

TEST(Taken, OthersAreCopiedInTheirType) {
  const std::vector<std::uint16_t> entries{0, 1, 2, 3, 4, 5, 6, 7};
  const IntegerView all = IntegerView::view(entries.data(), {2, 4});
  const IntegerView some = taken(all, 1, {3, 0, 0});
  EXPECT_EQ(some, IntegerView(Integers({2, 3}, {3, 0, 0, 7, 4, 4})));
  EXPECT_EQ(some.type(), IntegerType::uint16);
  EXPECT_EQ(taken(all.permuted({1, 0}), 0, {3, 1}), IntegerView(Integers({2, 2}, {3, 7, 1, 5})));
}

TEST(Repeated, IsOneNumberInMemory) {
  const IntegerView many = repeated(-1, {3, 1000000});
  EXPECT_EQ(many.size(), 3000000U);
  EXPECT_EQ(many[2999999], -1);
  EXPECT_EQ(count_observed(many), 0);
}

TEST(CountObserved, OfAnyTypeAndStrides) {
  const std::vector<std::int16_t> entries{0, -1, 3, -1, -1, 2};
  EXPECT_EQ(count_observed(IntegerView::view(entries)), 3);
  EXPECT_EQ(count_observed(IntegerView::view(entries.data(), {3}, {2})), 2);
  const std::vector<std::uint8_t> all{0, 255, 3};
  EXPECT_EQ(count_observed(IntegerView::view(all)), 3);
  EXPECT_EQ(count_observed(Integers({0})), 0);
}

}  // namespace
}  // namespace plated::tensor
