// Computes a drawn model's derivatives by the oracle.
#pragma once

#include <vector>

#include "oracle/derivative.hpp"
#include "property/drawn_model.hpp"
#include "property/near.hpp"

namespace plated::test {

inline Tensor::Shape shape_of(const FactorGraph& graph, const Output& output) {
  Tensor::Shape shape;
  for (const DimId d : output.dims) shape.push_back(graph.dims()[d].size);
  return shape;
}

/// Cotangents for every output; none in a third of the cases, which stands for ones.
inline std::vector<Tensor> random_cotangents(DrawnModel& drawn) {
  std::vector<Tensor> result;
  if (drawn.random.chance(33)) return result;
  for (const Output& output : drawn.graph.outputs()) {
    const Dtype dtype = drawn.random.chance(50) ? Dtype::float32 : Dtype::float64;
    result.push_back(signed_tensor(shape_of(drawn.graph, output), drawn.random, dtype));
  }
  return result;
}

/// What the library is asked about derivatives, put to the oracle.
inline oracle::Question question(const DrawnModel& drawn, const std::vector<Tensor>& cotangents) {
  oracle::Question q{.semiring = drawn.semiring,
                     .operands = numbers(drawn.tensors()),
                     .direction = {},
                     .cotangents = {},
                     .lengths = drawn.c.lengths};
  for (const Numbers& operand : q.operands) q.direction.emplace_back(operand.size(), 0);
  for (std::size_t o = 0; o < drawn.graph.outputs().size(); ++o) {
    std::size_t entries = 1;
    for (const std::int64_t extent : shape_of(drawn.graph, drawn.graph.outputs()[o])) {
      entries *= static_cast<std::size_t>(extent);
    }
    q.cotangents.push_back(cotangents.empty() ? Numbers(entries, 1) : numbers(cotangents[o]));
  }
  return q;
}

inline Numbers values_of(const std::vector<oracle::Dual>& duals) {
  Numbers result;
  for (const oracle::Dual& d : duals) result.push_back(d.value);
  return result;
}

inline Numbers slopes_of(const std::vector<oracle::Dual>& duals) {
  Numbers result;
  for (const oracle::Dual& d : duals) result.push_back(d.slope);
  return result;
}

}  // namespace plated::test
