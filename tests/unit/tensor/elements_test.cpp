// Elements of tensors in C++ types: pointers, spans, iteration, writing, comparison, construction from ranges.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>

#include "plated/error.hpp"
#include "plated/tensor.hpp"
#include "plated/tensors.hpp"

namespace plated {
namespace {

using Values = std::vector<double>;

TEST(Elements, HaveTheTypeOfTheTensor) {
  const Tensor tensor = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  tensor.data<float>()[3] = 7;
  EXPECT_EQ(tensor.data<const float>()[3], 7);
  EXPECT_EQ(tensor.span<const float>().size(), 4U);
  tensor.span<float>()[0] = 5;
  EXPECT_EQ(tensor.values(), (Values{5, 2, 3, 7}));
  EXPECT_THROW((void)tensor.data<double>(), Error);
  EXPECT_THROW((void)Tensor().data<double>(), NullDataError);
}

TEST(Elements, AreReadFromConstMemoryAndNotWritten) {
  const std::vector<double> memory{1, 2};
  const Tensor view = Tensor::view(memory);
  EXPECT_EQ(view.data<const double>(), memory.data());
  EXPECT_THROW((void)view.data<double>(), Error);
  EXPECT_THROW((void)view.at<double>({0}), Error);
}

TEST(Elements, MakeASpanInRowMajorOrderOnly) {
  const Tensor tensor = Tensor::of<double>({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(tensor.select(0, 1).span<const double>()[0], 4);
  EXPECT_EQ(tensor.select(2, 1).shape(), (Tensor::Shape{2, 1}));
  EXPECT_THROW((void)tensor.select(2, 1).span<const double>(), ShapeError);
  EXPECT_EQ(Tensor(Dtype::float64, {0, 3}).span<const double>().size(), 0U);
}

TEST(Elements, AreWrittenAtAnIndexOfAnyIntegers) {
  const Tensor tensor(Dtype::float32, {2, 3});
  const std::size_t i = 1;
  const unsigned char j = 2;
  tensor.at<float>({i, j}) = 4;
  EXPECT_EQ(tensor.at({1, 2L}), 4);
  EXPECT_EQ(tensor.at({i, static_cast<short>(j)}), 4);
  EXPECT_THROW((void)tensor.at({std::numeric_limits<std::size_t>::max(), i}), ShapeError);
  EXPECT_THROW((void)tensor.at({-1, 0}), ShapeError);
  const std::int64_t index[] = {0, 1};
  tensor.at<float>(index) = 3;
  EXPECT_EQ(tensor.at(index), 3);
}

TEST(Elements, AreVisitedInRowMajorOrder) {
  const Tensor tensor = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<std::size_t> swapped{1, 0};
  const Tensor columns = tensor.permuted(swapped);
  EXPECT_EQ(Values(columns.begin(), columns.end()), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(std::accumulate(tensor.begin(), tensor.end(), 0.0), 21);
  double last = 0;
  for (const double entry : columns.select(0, 1).broadcast({2})) last = entry;
  EXPECT_EQ(last, 5);
  EXPECT_EQ(Values(Tensor::scalar(2.0).begin(), Tensor::scalar(2.0).end()).size(), 1U);
  const Tensor none(Dtype::float64, {3, 0, 2});
  EXPECT_TRUE(none.begin() == none.end());
  EXPECT_TRUE(Tensor().begin() == Tensor().end());
}

TEST(Elements, AreCompared) {
  const Tensor tensor = Tensor::of<double>({2, 2}, {1, 2, 2, 1});
  const std::vector<std::size_t> swapped{1, 0};
  EXPECT_EQ(tensor, tensor.permuted(swapped));  // symmetric
  EXPECT_NE(tensor, Tensor::of<double>({2, 2}, {1, 2, 3, 1}));
  EXPECT_NE(tensor, Tensor::of<double>({4}, {1, 2, 2, 1}));
  EXPECT_NE(tensor, Tensor::of<float>({2, 2}, {1, 2, 2, 1}));
  EXPECT_NE(Tensor(), Tensor::scalar(0.0));
  EXPECT_EQ(Tensor(), Tensor());
  const Tensor no_number = Tensor::scalar(std::numeric_limits<double>::quiet_NaN());
  EXPECT_NE(no_number, no_number);
}

TEST(Elements, AreTakenFromVectorsArraysAndSpans) {
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  const std::array<double, 2> pair{7, 8};
  EXPECT_EQ(Tensor::of({2, 3}, memory).at({1, 0}), 4);
  EXPECT_EQ(Tensor::of(pair).shape(), Tensor::Shape{2});
  EXPECT_EQ(Tensor::of(std::span(memory).first(2)).values(), (Values{1, 2}));
  const Tensor view = Tensor::view(memory, {3, 2});
  view.at<float>({0, 1}) = 9;
  EXPECT_EQ(memory[1], 9);
  EXPECT_EQ(Tensor::view(std::span<const float>(memory)).writable(), false);
  EXPECT_THROW((void)Tensor::view(memory, {2, 2}), SizeError);
  EXPECT_THROW((void)Tensor::of({5}, memory), SizeError);
}

std::size_t count(Tensors tensors) { return tensors.size(); }

TEST(Tensors, AreAnythingThatHoldsThem) {
  const Tensor tensor = Tensor::scalar(1.0);
  const std::vector<Tensor> list(3);
  const Tensor pair[] = {tensor, tensor};
  EXPECT_EQ(count({}), 0U);
  EXPECT_EQ(count({tensor}), 1U);
  EXPECT_EQ(count({tensor, tensor}), 2U);
  EXPECT_EQ(count(list), 3U);
  EXPECT_EQ(count(pair), 2U);
  EXPECT_EQ(count(std::array<Tensor, 4>()), 4U);
  EXPECT_EQ(count(std::span(list).first(1)), 1U);
}

}  // namespace
}  // namespace plated
