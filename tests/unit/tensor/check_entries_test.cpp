// Entries out of range are named, with their place.
#include "tensor/check_entries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "plated/error.hpp"

namespace plated::tensor {
namespace {

std::string message_of(const Integers& observed, std::int64_t states) {
  try {
    check_states(observed, "x", states);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

TEST(CheckEntries, TakesStatesAndWhatIsNotObserved) {
  EXPECT_EQ(message_of(Integers({2, 2}, {0, 1, -1, 2}), 3), "");
  EXPECT_EQ(message_of(Integers({0, 3}), 3), "");
  EXPECT_EQ(message_of(Integers({}, {-1}), 1), "");
}

template <class T>
void expect_ranges() {
  std::vector<T> entries(24);
  for (std::size_t k = 0; k < entries.size(); ++k) entries[k] = static_cast<T>(3 + (k * 7) % 24);
  const auto expect = [&](std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, std::size_t from = 0) {
    const IntegerView view = IntegerView::view(entries.data() + from, shape, strides);
    const std::vector<std::int64_t> all = view.values();
    const Range range = range_of(view);
    EXPECT_EQ(range.least, *std::min_element(all.begin(), all.end()));
    EXPECT_EQ(range.most, *std::max_element(all.begin(), all.end()));
  };
  expect({24}, {1});
  expect({2, 3, 4}, {12, 4, 1});
  expect({4, 3, 2}, {1, 4, 12});     // the axes of another order
  expect({2, 3, 2}, {12, 4, 2});     // every other entry
  expect({2, 5, 3}, {12, 0, 1});     // repeated
  expect({3, 2}, {-4, -1}, 13);      // backwards
  expect({1, 3, 1}, {99, 5, 0}, 2);  // of a single slice
  expect({}, {}, 5);
  std::vector<std::int64_t> shape(20, 1);  // of a rank that nobody has
  shape[3] = 24;
  expect(shape, std::vector<std::int64_t>(20, 1));
}

TEST(CheckEntries, FindsTheRangeInAnyStrides) {
  expect_ranges<std::int8_t>();
  expect_ranges<std::uint16_t>();
  expect_ranges<std::int32_t>();
  expect_ranges<std::uint64_t>();
  const std::uint64_t large = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(range_of(IntegerView::view(&large, {})).most, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(range_of(Integers({0, 3})).most, 0);
}

TEST(CheckEntries, NamesTheValueAndItsIndex) {
  EXPECT_EQ(message_of(Integers({2, 3}, {0, 0, 0, 0, 7, 9}), 3),
            "the evidence for 'x' has the value 7 at index (1, 1), and its states are 0 … 2 (−1: not observed)");
  EXPECT_EQ(message_of(Integers({2}, {0, -2}), 3),
            "the evidence for 'x' has the value -2 at index (1), and its states are 0 … 2 (−1: not observed)");
  EXPECT_EQ(message_of(Integers({}, {255}), 255),
            "the evidence for 'x' has the value 255, and its states are 0 … 254 (−1: not observed)");
  EXPECT_NE(message_of(Integers({}, {std::numeric_limits<std::int64_t>::min()}), 2), "");
  EXPECT_NE(message_of(Integers({}, {std::numeric_limits<std::int64_t>::max()}), 2), "");
}

TEST(CheckEntries, RefusesAShapeThatIsNotThatOfTheEntries) {
  Integers wrong({0});
  wrong.values = {5};
  EXPECT_THROW(check_states(wrong, "x", 2), ShapeError);
}

}  // namespace
}  // namespace plated::tensor
