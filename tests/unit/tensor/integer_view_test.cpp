// Views of integers: types, strides, ownership.
#include "plated/integer_view.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "plated/error.hpp"
#include "plated/evidence.hpp"

namespace plated {
namespace {

using Values = std::vector<std::int64_t>;

template <class T>
void expect_read(IntegerType type) {
  const std::array<T, 4> entries{T(0), T(1), T(100), std::numeric_limits<T>::min()};
  const IntegerView view = IntegerView::view(entries);
  EXPECT_EQ(view.type(), type);
  EXPECT_EQ(view.data(), entries.data());
  EXPECT_EQ(view.shape(), Values{4});
  EXPECT_EQ(view.values(), (Values{0, 1, 100, static_cast<std::int64_t>(std::numeric_limits<T>::min())}));
}

TEST(IntegerView, ReadsEveryType) {
  expect_read<std::int8_t>(IntegerType::int8);
  expect_read<std::int16_t>(IntegerType::int16);
  expect_read<std::int32_t>(IntegerType::int32);
  expect_read<std::int64_t>(IntegerType::int64);
  expect_read<long long>(IntegerType::int64);
  expect_read<std::uint8_t>(IntegerType::uint8);
  expect_read<std::uint16_t>(IntegerType::uint16);
  expect_read<std::uint32_t>(IntegerType::uint32);
  expect_read<std::uint64_t>(IntegerType::uint64);
  const bool flags[] = {true, false};
  EXPECT_EQ(IntegerView::view(flags, {2}).values(), (Values{1, 0}));
}

TEST(IntegerView, TakesNoUnsignedNumberForANegativeOne) {
  const std::vector<std::uint64_t> entries{std::numeric_limits<std::uint64_t>::max()};
  EXPECT_EQ(IntegerView::view(entries)[0], std::numeric_limits<std::int64_t>::max());
}

TEST(IntegerView, FollowsStrides) {
  const std::vector<std::int16_t> entries{0, 1, 2, 3, 4, 5};
  const IntegerView columns = IntegerView::view(entries.data(), {3, 2}, {1, 3});
  EXPECT_EQ(columns.values(), (Values{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(columns.at({2, std::size_t{1}}), 5);
  const IntegerView backwards = IntegerView::view(entries.data() + 5, {3}, {-2});
  EXPECT_EQ(backwards.values(), (Values{5, 3, 1}));
  EXPECT_EQ(IntegerView::view(entries.data() + 4, {2, 3}, {0, 0}).values(), Values(6, 4));
  EXPECT_EQ(columns, IntegerView(Integers({3, 2}, {0, 3, 1, 4, 2, 5})));
  EXPECT_FALSE(columns == backwards);
}

TEST(IntegerView, OwnsWhatItWasGiven) {
  IntegerView view;
  EXPECT_EQ(view.size(), 0U);
  view = Integers({2}, {7, 8});
  const IntegerView copy = view;
  view = 3;
  EXPECT_EQ(copy.values(), (Values{7, 8}));
  EXPECT_EQ(copy.integers(), Integers({2}, {7, 8}));
  EXPECT_EQ(view.shape(), Values{});
  EXPECT_EQ(view[0], 3);
  auto owner = std::make_shared<const std::vector<int>>(2, 5);
  const IntegerView kept = IntegerView::view(*owner).keeping(owner);
  owner.reset();
  EXPECT_EQ(kept.values(), (Values{5, 5}));
  EXPECT_EQ(IntegerView(Integers({0, 3})).size(), 0U);
}

TEST(IntegerView, RefusesWhatDoesNotFit) {
  const std::vector<int> entries(4);
  EXPECT_THROW((void)IntegerView::view(entries.data(), {2, 2}, {1}), RankError);
  EXPECT_THROW((void)IntegerView::view(entries.data(), {-1}), SizeError);
  EXPECT_THROW((void)IntegerView::view(entries.data(), {2, 2}).at({0}), ShapeError);
  EXPECT_THROW((void)IntegerView::view(entries.data(), {2, 2}).at({0, 2}), ShapeError);
  EXPECT_THROW((void)IntegerView().at({}), NullDataError);
  Integers wrong({2});
  wrong.values.pop_back();
  EXPECT_THROW((void)IntegerView::view(wrong), ShapeError);
}

TEST(IntegersByName, AreTakenFromEvidenceAndGivenBack) {
  const Evidence evidence{{"x", Integers({}, {1})}, {"y", Integers({2}, {0, -1})}};
  const IntegersByName copied = evidence;
  EXPECT_EQ(copied.at("y").values(), (Values{0, -1}));
  EXPECT_EQ(Evidence(copied), evidence);
}

TEST(IntegerView, HasRangesOfSlices) {
  const std::vector<std::uint8_t> entries{0, 1, 2, 3, 4, 5};
  const IntegerView rows = IntegerView::view(entries.data(), {3, 2});
  EXPECT_EQ(rows.range(0, 1, 2).values(), (Values{2, 3, 4, 5}));
  EXPECT_EQ(rows.range(0, 1, 2).data(), entries.data() + 2);
  EXPECT_EQ(rows.range(1, 1, 1).values(), (Values{1, 3, 5}));
  EXPECT_EQ(rows.range(0, 3, 0).shape(), (Values{0, 2}));
  EXPECT_THROW((void)rows.range(0, 2, 2), ShapeError);
  EXPECT_THROW((void)rows.range(0, -1, 2), ShapeError);
  EXPECT_THROW((void)rows.range(2, 0, 1), ShapeError);
  const IntegerView last = IntegerView(Integers({3}, {7, 8, 9})).range(0, 2, 1);  // outlives the whole
  EXPECT_EQ(last[0], 9);
}

TEST(IntegerView, PermutesAxes) {
  const std::vector<std::int16_t> entries{0, 1, 2, 3, 4, 5};
  const IntegerView columns = IntegerView::view(entries.data(), {3, 2}).permuted({1, 0});
  EXPECT_EQ(columns, IntegerView(Integers({2, 3}, {0, 2, 4, 1, 3, 5})));
  EXPECT_EQ(columns.data(), entries.data());
  EXPECT_FALSE(columns.is_row_major());
  EXPECT_THROW((void)columns.permuted({0}), ShapeError);
  EXPECT_THROW((void)columns.permuted({0, 0}), ShapeError);
  EXPECT_THROW((void)columns.permuted({0, 2}), ShapeError);
}

TEST(IntegerView, CopiesKeepTheType) {
  std::vector<std::uint8_t> entries{0, 1, 2, 200, 4, 5};
  const IntegerView columns = IntegerView::view(entries.data(), {2, 3}, {1, 2});
  const IntegerView copy = columns.copy();
  EXPECT_EQ(copy, columns);
  EXPECT_EQ(copy.type(), IntegerType::uint8);
  EXPECT_TRUE(copy.is_row_major());
  entries[0] = 9;
  EXPECT_EQ(copy[0], 0);
  EXPECT_EQ(IntegerView(Integers({0, 2})).copy().shape(), (Values{0, 2}));
}

}  // namespace
}  // namespace plated
