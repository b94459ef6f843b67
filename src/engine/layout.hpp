// The strides of a schedule's values: those of tensors, and row-major ones of intermediates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "planner/schedule.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// A value's element type and, for each of its dims, its stride.
struct Layout {
  Dtype dtype = Dtype::float64;
  std::vector<std::pair<DimId, std::int64_t>> stride;

  [[nodiscard]] std::int64_t along(DimId d) const {
    for (const auto& [dim, step] : stride) {
      if (dim == d) return step;
    }
    return 0;
  }
  [[nodiscard]] std::vector<std::int64_t> along(const std::vector<DimId>& loops) const {
    std::vector<std::int64_t> strides;
    strides.reserve(loops.size());
    for (const DimId d : loops) strides.push_back(along(d));
    return strides;
  }
};

/// Row-major over the dims.
[[nodiscard]] Layout row_major(Dtype dtype, const std::vector<DimId>& dims, const planner::Extents& extents);

class Layouts {
 public:
  /// `element` is the type of intermediates, `message` that of messages along a chain.
  Layouts(const planner::Schedule& schedule, const planner::Extents& extents, std::span<const Tensor> outputs,
          std::span<const Tensor> operands, Dtype element, Dtype message);

  /// The layout of a value or, where it is stored in blocks, of a block with as many slices as `loops` says.
  [[nodiscard]] Layout operator()(planner::ValueId value, const planner::Extents& loops) const;
  /// The element type of the operands.
  [[nodiscard]] Dtype element() const { return element_; }
  [[nodiscard]] Dtype dtype(planner::ValueId value) const;
  /// Whether its numbers are computed: it is no operand, and no gather that only copies entries of one.
  [[nodiscard]] bool is_computed(planner::ValueId value) const;
  /// Bytes of an intermediate, or of what a step reads of an operand.
  [[nodiscard]] double bytes(planner::ValueId value) const;
  /// Bytes from one block of slices to the next.
  [[nodiscard]] std::int64_t bytes_along(planner::ValueId value, DimId dim, std::int64_t slices) const;

  /// Stores some intermediates block after block, each block row-major; or slice after slice of a chain, so that blocks
  /// of any size lie alike.
  void store_in_blocks(std::vector<bool> values, std::optional<DimId> chain) {
    in_blocks_ = std::move(values);
    chain_ = chain;
  }
  [[nodiscard]] bool is_in_blocks(planner::ValueId value) const { return !in_blocks_.empty() && in_blocks_[value]; }

 private:
  /// The axes of an intermediate in the order in which they are stored.
  [[nodiscard]] std::vector<DimId> axes(planner::ValueId value) const;

  const planner::Schedule& schedule_;
  const planner::Extents& extents_;
  std::span<const Tensor> outputs_;
  std::span<const Tensor> operands_;
  std::vector<bool> in_blocks_;  // [value]
  std::optional<DimId> chain_;
  Dtype element_;
  Dtype message_;
};

}  // namespace plated::engine
