// Tensors: ownership, views of any stride, element access and errors.
#include "plated/tensor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <numeric>

#include "plated/error.hpp"

namespace plated {
namespace {

using Shape = Tensor::Shape;
constexpr std::int64_t huge = std::int64_t{1} << 40;

Tensor two_by_three() { return Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}); }

TEST(Tensor, OfKeepsValuesInRowMajorOrder) {
  const Tensor t = two_by_three();
  EXPECT_EQ(t.dtype(), Dtype::float32);
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_EQ(t.strides(), (Shape{3, 1}));
  EXPECT_EQ(t.elements(), 6);
  EXPECT_EQ(t.at({1, 0}), 4);
  EXPECT_EQ(t.values(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Tensor, OfVectorAndScalarTakeTheDtypeOfTheirValues) {
  EXPECT_EQ(Tensor::of({2}, std::vector<double>{1, 2}).dtype(), Dtype::float64);
  EXPECT_EQ(Tensor::of({2}, std::vector<float>{1, 2}).dtype(), Dtype::float32);
  const Tensor s = Tensor::scalar(2.5);
  EXPECT_EQ(s.rank(), 0U);
  EXPECT_EQ(s.elements(), 1);
  EXPECT_EQ(s.item(), 2.5);
  EXPECT_EQ(s.at({}), 2.5);
}

TEST(Tensor, NamesAndSizesOfDtypes) {
  EXPECT_EQ(name(Dtype::float32), "float32");
  EXPECT_EQ(name(Dtype::float64), "float64");
  EXPECT_EQ(size_of(Dtype::float32), sizeof(float));
  EXPECT_EQ(size_of(Dtype::float64), sizeof(double));
}

TEST(Tensor, NewMemoryIsZeroAndAligned) {
  const Tensor t(Dtype::float64, {3, 5});
  EXPECT_EQ(t.values(), std::vector<double>(15, 0.0));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.data()) % 64, 0U);
}

TEST(Tensor, OfAnySizeIsAlignedAndApartFromOthers) {
  std::vector<Tensor> tensors;
  for (const std::int64_t size : {0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 1000}) {
    tensors.push_back(Tensor::of({size}, std::vector<double>(static_cast<std::size_t>(size), 1.0 * size)));
    tensors.push_back(Tensor::of({size}, std::vector<float>(static_cast<std::size_t>(size), 0.5F * size)));
  }
  for (const Tensor& t : tensors) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.data()) % 64, 0U) << t.elements();
    const double entry = (t.dtype() == Dtype::float64 ? 1.0 : 0.5) * static_cast<double>(t.elements());
    EXPECT_EQ(t.values(), std::vector<double>(static_cast<std::size_t>(t.elements()), entry));
  }
}

TEST(Tensor, ShapesOfManyTensorsDoNotMixUp) {
  std::vector<Tensor> tensors;
  for (std::int64_t a = 1; a < 20; ++a) {
    for (std::int64_t b = 1; b < 20; ++b) tensors.emplace_back(Dtype::float32, Tensor::Shape{a, b});
  }
  std::size_t next = 0;
  for (std::int64_t a = 1; a < 20; ++a) {
    for (std::int64_t b = 1; b < 20; ++b, ++next) {
      EXPECT_EQ(tensors[next].shape(), (Tensor::Shape{a, b}));
      EXPECT_EQ(tensors[next].strides(), (Tensor::Shape{b, 1}));
      EXPECT_EQ(tensors[next].elements(), a * b);
    }
  }
}

TEST(Tensor, CopiesShareMemory) {
  const Tensor t = two_by_three();
  const Tensor copy = t;
  static_cast<float*>(t.mutable_data())[0] = 9;
  EXPECT_EQ(copy.at({0, 0}), 9);
}

TEST(Tensor, OwnedMemoryOutlivesTheTensorItsViewCameFrom) {
  Tensor row;
  {
    const Tensor t = two_by_three();
    row = t.select(0, 1);
  }
  EXPECT_EQ(row.values(), (std::vector<double>{4, 5, 6}));
}

TEST(TensorView, DoesNotCopy) {
  std::array<double, 4> memory{1, 2, 3, 4};
  const Tensor view = Tensor::view(memory.data(), {2, 2});
  memory[3] = 7;
  EXPECT_EQ(view.data(), memory.data());
  EXPECT_EQ(view.at({1, 1}), 7);
}

TEST(TensorView, ReadsColumnMajorBroadcastAndReversedMemory) {
  std::array<double, 6> memory{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(Tensor::view(memory.data(), {2, 3}, {1, 2}).values(), (std::vector<double>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(Tensor::view(memory.data(), {2, 3}, {0, 1}).values(), (std::vector<double>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(Tensor::view(memory.data() + 5, {6}, {-1}).values(), (std::vector<double>{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(Tensor::view(memory.data() + 2, {2, 3}, {3, -1}).at({1, 0}), 6);
}

TEST(TensorView, OfConstMemoryIsReadOnlyAndStaysSoWhenSliced) {
  const std::array<float, 2> memory{1, 2};
  const Tensor view = Tensor::view(memory.data(), {2});
  EXPECT_FALSE(view.writable());
  EXPECT_THROW((void)view.mutable_data(), Error);
  EXPECT_THROW((void)view.select(0, 1).mutable_data(), Error);
  std::array<float, 2> writable{1, 2};
  EXPECT_EQ(Tensor::view(writable.data(), {2}).mutable_data(), writable.data());
}

TEST(TensorView, NeedsOneStrideForEachAxis) {
  double memory = 0;
  EXPECT_THROW((void)Tensor::view(&memory, {1, 1}, {1}), RankError);
}

TEST(TensorView, OfNullIsAllowedAndRefusesToBeRead) {
  const Tensor view = Tensor::view(static_cast<double*>(nullptr), {2, 1});
  EXPECT_EQ(view.data(), nullptr);
  EXPECT_EQ(view.select(0, 1).data(), nullptr);
  EXPECT_THROW((void)view.at({0, 0}), NullDataError);
  EXPECT_THROW((void)view.values(), NullDataError);
  EXPECT_THROW((void)view.select(0, 1).item(), NullDataError);
  EXPECT_THROW((void)Tensor().item(), NullDataError);
}

TEST(TensorSelect, FixesOneAxis) {
  const Tensor t = two_by_three();
  EXPECT_EQ(t.select(0, 1).values(), (std::vector<double>{4, 5, 6}));
  EXPECT_EQ(t.select(1, 2).values(), (std::vector<double>{3, 6}));
  EXPECT_EQ(t.select(1, 2).select(0, 0).item(), 3);
  EXPECT_EQ(t.select(1, 0).shape(), Shape{2});
}

TEST(TensorSelect, RefusesAxesAndSlicesThatAreNotThere) {
  EXPECT_THROW((void)two_by_three().select(2, 0), RankError);
  EXPECT_THROW((void)two_by_three().select(0, 2), SizeError);
  EXPECT_THROW((void)two_by_three().select(0, -1), SizeError);
}

TEST(TensorPermuted, ReordersAxesWithoutCopying) {
  const Tensor t = two_by_three();
  const std::array<std::size_t, 2> axes{1, 0};
  const Tensor transposed = t.permuted(axes);
  EXPECT_EQ(transposed.data(), t.data());
  EXPECT_EQ(transposed.shape(), (Shape{3, 2}));
  EXPECT_EQ(transposed.values(), (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

TEST(TensorPermuted, ThreeAxesLandWhereTheyAreSent) {
  std::vector<double> values(24);
  std::iota(values.begin(), values.end(), 0.0);
  const Tensor t = Tensor::of({2, 3, 4}, values);
  const std::array<std::size_t, 3> axes{2, 0, 1};
  const Tensor p = t.permuted(axes);
  EXPECT_EQ(p.shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(p.at({3, 1, 2}), t.at({1, 2, 3}));
  EXPECT_EQ(p.at({0, 1, 0}), t.at({1, 0, 0}));
}

TEST(TensorPermuted, RefusesWhatIsNoPermutation) {
  const std::array<std::size_t, 2> repeated{0, 0};
  const std::array<std::size_t, 2> outside{0, 2};
  const std::array<std::size_t, 1> short_by_one{0};
  EXPECT_THROW((void)two_by_three().permuted(repeated), RankError);
  EXPECT_THROW((void)two_by_three().permuted(outside), RankError);
  EXPECT_THROW((void)two_by_three().permuted(short_by_one), RankError);
}

TEST(TensorAt, RefusesIndicesOutsideAndOfTheWrongLength) {
  EXPECT_THROW((void)two_by_three().at({2, 0}), SizeError);
  EXPECT_THROW((void)two_by_three().at({0, -1}), SizeError);
  EXPECT_THROW((void)two_by_three().at({0}), RankError);
  EXPECT_THROW((void)two_by_three().item(), SizeError);
}

TEST(Tensor, RefusesShapesThatDoNotFitTheirValues) {
  EXPECT_THROW((void)Tensor::of<double>({2, 2}, {1, 2, 3}), ShapeError);
  EXPECT_THROW((void)Tensor::of<double>({}, {}), ShapeError);
}

TEST(Tensor, RefusesNegativeExtents) {
  EXPECT_THROW((void)Tensor(Dtype::float32, {2, -1}), SizeError);
  EXPECT_THROW((void)Tensor(Dtype::float32, {-1, huge, huge}), SizeError);
  EXPECT_THROW((void)Tensor::row_major({-2}), SizeError);
  double memory = 0;
  EXPECT_THROW((void)Tensor::view(&memory, {-1}, {1}), SizeError);
}

TEST(Tensor, RefusesShapesBeyond63Bits) {
  EXPECT_THROW((void)Tensor(Dtype::float32, {huge, huge}), SizeOverflowError);
  // The elements fit, their bytes do not.
  EXPECT_THROW((void)Tensor(Dtype::float64, {std::int64_t{1} << 61}), SizeOverflowError);
  double memory = 0;
  EXPECT_THROW((void)Tensor::view(&memory, {huge, huge}, {0, 0}), SizeOverflowError);
}

TEST(Tensor, WithoutElementsIsFineWhateverItsOtherExtents) {
  EXPECT_EQ(Tensor(Dtype::float64, {3, 0}).values(), std::vector<double>{});
  EXPECT_EQ(Tensor(Dtype::float64, {0, huge, huge}).elements(), 0);
  EXPECT_EQ(Tensor(Dtype::float64, {huge, huge, 0}).elements(), 0);
}

}  // namespace
}  // namespace plated
