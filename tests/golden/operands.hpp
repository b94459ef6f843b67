// Deterministic operands and brute-force sums for the paper's examples.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "plated/plated.hpp"

namespace plated::test {

/// Entries between 0.5 and 1.5: positive, so that every semiring admits them.
inline Tensor random_tensor(std::mt19937& random, const Tensor::Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<double> values;
  for (std::int64_t k = 0; k < count; ++k) values.push_back(0.5 + static_cast<double>(random() % 1000) / 1000.0);
  return Tensor::of<double>(shape, values);
}

/// One tensor for each factor of a graph.
inline std::vector<Tensor> random_operands(std::mt19937& random, const FactorGraph& graph) {
  std::vector<Tensor> operands;
  for (const Factor& factor : graph.factors()) {
    Tensor::Shape shape;
    for (const DimId d : factor.dims) shape.push_back(graph.dims()[d].size);
    operands.push_back(random_tensor(random, shape));
  }
  return operands;
}

/// Calls visit with every index of a shape, in row-major order.
template <class Visit>
void every_index(const Tensor::Shape& shape, const Visit& visit) {
  Tensor::Shape index(shape.size(), 0);
  for (const std::int64_t extent : shape) {
    if (extent == 0) return;
  }
  for (bool more = true; more;) {
    visit(index);
    more = false;
    for (std::size_t axis = shape.size(); axis-- > 0 && !more;) {
      more = ++index[axis] < shape[axis];
      if (!more) index[axis] = 0;
    }
  }
}

inline constexpr Semiring semirings[] = {Semiring::real,     Semiring::log,         Semiring::max_plus,
                                         Semiring::min_plus, Semiring::max_product, Semiring::boolean};

}  // namespace plated::test

/// Equal shapes, and entries equal to 12 digits.
#define EXPECT_SAME_TENSOR(actual, expected)                                                                       \
  do {                                                                                                             \
    const ::plated::Tensor actual_tensor = (actual);                                                               \
    const ::plated::Tensor expected_tensor = (expected);                                                           \
    EXPECT_EQ(actual_tensor.shape(), expected_tensor.shape());                                                     \
    const auto actual_values = actual_tensor.values();                                                             \
    const auto expected_values = expected_tensor.values();                                                         \
    ASSERT_EQ(actual_values.size(), expected_values.size());                                                       \
    for (std::size_t k = 0; k < actual_values.size(); ++k) {                                                       \
      EXPECT_NEAR(actual_values[k], expected_values[k], 1e-12 * (1 + std::abs(expected_values[k]))) << "at " << k; \
    }                                                                                                              \
  } while (false)
