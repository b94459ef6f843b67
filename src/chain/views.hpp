// Parts of tensors by dim.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/ragged.hpp"
#include "plated/factor_graph.hpp"
#include "plated/tensor.hpp"

namespace plated::chain {

/// The slices `first` … `first + count − 1` of a dim; axes that do not name it stay as they are.
[[nodiscard]] Tensor narrowed(const Tensor& tensor, const std::vector<DimId>& axes, DimId dim, std::int64_t first,
                              std::int64_t count);
/// One slice of a dim: without its axes.
[[nodiscard]] Tensor selected(const Tensor& tensor, const std::vector<DimId>& axes, DimId dim, std::int64_t index);
/// A view with the same axes in another order.
[[nodiscard]] Tensor reordered(const Tensor& tensor, const std::vector<DimId>& axes, const std::vector<DimId>& order);
using engine::holds;
/// The axes without a dim.
[[nodiscard]] std::vector<DimId> without(const std::vector<DimId>& axes, DimId dim);

using engine::padded;
using engine::Ragged;
using RaggedChains = engine::RaggedDims;

}  // namespace plated::chain
