// Slices of an operand: one index along some of its plates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plated/factor_graph.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// One slice of a plate.
struct Slice {
  DimId plate = 0;
  std::int64_t index = 0;
};

/// The slices of an index along an operand's plates, in the order of its axes, or along the first few of them. Throws
/// ShapeError for an index that is out of range or longer than there are plates.
[[nodiscard]] std::vector<Slice> slices_at(const FactorGraph& graph, std::size_t operand, const Tensor& tensor,
                                           std::span<const std::int64_t> index);

/// A view of what is in all of the slices, without their axes.
[[nodiscard]] Tensor part_of(const std::vector<DimId>& axes, const Tensor& tensor, std::span<const Slice> slices);

}  // namespace plated::engine
