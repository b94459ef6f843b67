// Offsets of indices.
#include "tensor/offset.hpp"

#include <gtest/gtest.h>

namespace plated::tensor {
namespace {

TEST(AllOffsets, AreThoseOfEachIndexInRowMajorOrder) {
  const std::vector<std::int64_t> shape{2, 3, 2}, strides{-5, 0, 7};
  std::vector<std::int64_t> expected;
  for (std::int64_t a = 0; a < 2; ++a) {
    for (std::int64_t b = 0; b < 3; ++b) {
      for (std::int64_t c = 0; c < 2; ++c) {
        expected.push_back(offset_at(std::vector<std::int64_t>{a, b, c}, shape, strides));
      }
    }
  }
  EXPECT_EQ(all_offsets(shape, strides), expected);
}

TEST(AllOffsets, AreOneWithoutAxesAndNoneOfAnEmptyAxis) {
  EXPECT_EQ(all_offsets({}, {}), std::vector<std::int64_t>{0});
  EXPECT_TRUE(all_offsets({2, 0, 3}, {3, 3, 1}).empty());
}

}  // namespace
}  // namespace plated::tensor
