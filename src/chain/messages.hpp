// Small things that whoever handles messages needs.
#pragma once

#include <vector>

#include "plated/factor_graph.hpp"
#include "plated/tensor.hpp"

namespace plated::chain {

[[nodiscard]] inline std::int64_t elements(const FactorGraph& graph, const std::vector<DimId>& dims) {
  std::int64_t product = 1;
  for (const DimId d : dims) product *= graph.dims()[d].size;
  return product;
}

/// Row-major doubles in another type.
[[nodiscard]] inline Tensor converted(const Tensor& doubles, Dtype dtype) {
  if (dtype == Dtype::float64) return doubles;
  Tensor result = Tensor::uninitialised(dtype, doubles.shape());
  const auto* from = static_cast<const double*>(doubles.data());
  auto* to = static_cast<float*>(result.mutable_data());
  for (std::int64_t k = 0; k < doubles.elements(); ++k) to[k] = static_cast<float>(from[k]);
  return result;
}

}  // namespace plated::chain
