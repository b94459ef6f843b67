// Entries out of range are named, with their place.
#include "tensor/check_entries.hpp"

#include <gtest/gtest.h>

#include <limits>

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
