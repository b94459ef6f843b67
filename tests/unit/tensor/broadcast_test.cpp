// Views that repeat a tensor along further axes.
#include <gtest/gtest.h>

#include <limits>

#include "plated/error.hpp"
#include "plated/tensor.hpp"

namespace plated {
namespace {

using Shape = Tensor::Shape;
using Values = std::vector<double>;

TEST(TensorBroadcast, RepeatsWithoutCopying) {
  const Tensor t = Tensor::of<float>({2}, {5, 7});
  const Tensor repeated = t.broadcast({3, 2});
  EXPECT_EQ(repeated.data(), t.data());
  EXPECT_EQ(repeated.dtype(), Dtype::float32);
  EXPECT_EQ(repeated.shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(repeated.strides(), (Shape{0, 0, 1}));
  EXPECT_EQ(repeated.values(), (Values{5, 7, 5, 7, 5, 7, 5, 7, 5, 7, 5, 7}));
}

TEST(TensorBroadcast, IsReadOnly) {
  const Tensor repeated = Tensor::scalar(1.0).broadcast({4});
  EXPECT_FALSE(repeated.writable());
  EXPECT_THROW((void)repeated.mutable_data(), Error);
}

TEST(TensorBroadcast, KeepsTheStridesOfAView) {
  const double memory[] = {1, 2, 3, 4, 5, 6};
  const Tensor columns = Tensor::view(memory, {3, 2}, {1, 3}).broadcast({2});
  EXPECT_EQ(columns.strides(), (Shape{0, 1, 3}));
  EXPECT_EQ(columns.values(), (Values{1, 4, 2, 5, 3, 6, 1, 4, 2, 5, 3, 6}));
}

TEST(TensorBroadcast, KeepsItsMemoryAlive) {
  const Tensor repeated = Tensor::of<double>({2}, {1, 2}).broadcast({2});
  EXPECT_EQ(repeated.values(), (Values{1, 2, 1, 2}));
}

TEST(TensorBroadcast, AlongNothingOrNoSlices) {
  EXPECT_EQ(Tensor::scalar(3.0).broadcast({}).item(), 3);
  EXPECT_EQ(Tensor::scalar(3.0).broadcast({0, 5}).elements(), 0);
}

TEST(TensorBroadcast, RefusesImpossibleShapes) {
  EXPECT_THROW((void)Tensor::scalar(3.0).broadcast({-1}), SizeError);
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_THROW((void)Tensor::scalar(3.0).broadcast({huge, huge}), SizeOverflowError);
}

}  // namespace
}  // namespace plated
