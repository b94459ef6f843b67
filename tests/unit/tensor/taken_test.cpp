// Slices of arrays of integers: views of neighbours, copies of others.
#include "tensor/taken.hpp"

#include <gtest/gtest.h>

#include "plated/error.hpp"
#include "tensor/check_entries.hpp"
#include "tensor/compact.hpp"

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

TEST(Taken, CopiesKeepTheOrderOfAxesInMemory) {
  const std::vector<std::int8_t> entries{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const IntegerView all = IntegerView::view(entries.data(), {2, 2, 3}, {6, 1, 2});
  const IntegerView some = taken(all, 2, {2, 0});
  EXPECT_EQ(some, IntegerView(Integers({2, 2, 2}, {4, 0, 5, 1, 10, 6, 11, 7})));
  EXPECT_EQ(some.strides(), (Values{4, 1, 2}));
  EXPECT_EQ(taken(all.range(1, 0, 0), 2, {2, 0}).shape(), (Values{2, 0, 2}));
  const IntegerView backwards = IntegerView::view(entries.data() + 11, {3, 4}, {-4, -1});
  EXPECT_EQ(taken(backwards, 1, {0, 3}).values(), (Values{11, 8, 7, 4, 3, 0}));
}

TEST(Compacted, IsAFunctionOfEachEntry) {
  const std::vector<std::uint8_t> entries{0, 9, 2, 3, 9, 5};
  const IntegerView all = IntegerView::view(entries.data(), {2, 3}, {1, 2});
  const IntegerView less =
      compacted<std::int16_t>(all, [](auto entry) { return static_cast<std::int16_t>(entry - 9); });
  EXPECT_EQ(less.values(), (Values{-9, -7, 0, 0, -6, -4}));
  EXPECT_EQ(less.type(), IntegerType::int16);
  EXPECT_EQ(less.strides(), (Values{1, 2}));
  EXPECT_EQ(compacted<std::int8_t>(repeated(4, {2, 2}), [](auto) { return std::int8_t{1}; }).values(), Values(4, 1));
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
