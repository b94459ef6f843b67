// Parts of tensors by dim, and the lengths of ragged chains.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "plated/factor_graph.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::chain {

/// The slices `first` … `first + count − 1` of a dim; axes that do not name it stay as they are.
[[nodiscard]] Tensor narrowed(const Tensor& tensor, const std::vector<DimId>& axes, DimId dim, std::int64_t first,
                              std::int64_t count);
/// One slice of a dim: without its axes.
[[nodiscard]] Tensor selected(const Tensor& tensor, const std::vector<DimId>& axes, DimId dim, std::int64_t index);
/// A view with the same axes in another order.
[[nodiscard]] Tensor reordered(const Tensor& tensor, const std::vector<DimId>& axes, const std::vector<DimId>& order);
[[nodiscard]] bool holds(const std::vector<DimId>& dims, DimId dim);
/// The axes without a dim.
[[nodiscard]] std::vector<DimId> without(const std::vector<DimId>& axes, DimId dim);

/// How many slices of a chain exist, for each index of some dims.
struct Ragged {
  std::vector<DimId> dims;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> values;  // row-major

  /// The largest length over the dims that are not kept, with the kept ones in the order given.
  [[nodiscard]] Ragged over(const std::vector<DimId>& kept, const std::vector<std::int64_t>& kept_sizes) const;
  /// The lengths in a stretch of slices of one of the dims.
  [[nodiscard]] Ragged narrowed(DimId dim, std::int64_t first, std::int64_t count) const;
};
using RaggedChains = std::map<DimId, Ragged>;

/// A copy of a stretch of slices in which those that do not exist hold the semiring's one; they are not read. What has
/// no axis for the chain stays as it is.
[[nodiscard]] Tensor padded(const Tensor& stretch, const std::vector<DimId>& axes, DimId chain, std::int64_t first,
                            const Ragged& lengths, Semiring semiring);

}  // namespace plated::chain
