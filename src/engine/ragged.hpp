// Ragged plates and chains: how many of their slices exist, and operands without the others.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "plated/factor_graph.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// How many slices of a plate or chain exist, for each index of some dims.
struct Ragged {
  std::vector<DimId> dims;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> values;  // row-major

  /// The largest length over the dims that are not kept, with the kept ones in the order given.
  [[nodiscard]] Ragged over(const std::vector<DimId>& kept, const std::vector<std::int64_t>& kept_sizes) const;
};
using RaggedDims = std::map<DimId, Ragged>;

/// Slices inside slices that do not exist do not exist, whatever length they were given.
void end_inner(RaggedDims& ragged);

/// Whether a list of dims has one.
[[nodiscard]] bool holds(const std::vector<DimId>& dims, DimId dim);

/// Makes copies of operands with given axes in which slices that do not exist hold a semiring's one; they are not read.
class Padding {
 public:
  Padding(const std::vector<DimId>& axes, const RaggedDims& lengths);

  /// The operand itself where all of its slices exist. A copy is put into `memory` where that is alike, and then
  /// nothing is allocated.
  [[nodiscard]] Tensor fill(const Tensor& operand, Semiring semiring, const Tensor& memory = {});

  /// The lengths of one dim.
  struct Part {
    Ragged lengths;                                // over dims among the axes
    std::vector<bool> is_dim = {};                 // [axis]
    std::vector<std::int64_t> length_stride = {};  // [axis], among the lengths
  };

 private:
  std::vector<Part> parts_;
  std::vector<std::int64_t> at_;  // the index at hand
};
/// One such copy.
[[nodiscard]] Tensor without_padding(const std::vector<DimId>& axes, const Tensor& operand, const RaggedDims& lengths,
                                     Semiring semiring);

}  // namespace plated::engine
