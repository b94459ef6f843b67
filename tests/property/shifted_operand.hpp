// Drawn operands of which one is far from the others, but not too far for the oracle's long double.
#pragma once

#include <cstdlib>
#include <set>

#include "property/drawn_model.hpp"

namespace plated::test {

/// Subtracts a constant that float32 feels from all entries of one operand in log space that stands for few slices.
inline void shift_one_operand(DrawnModel& drawn) {
  const auto f = static_cast<std::size_t>(drawn.random.below(static_cast<std::int64_t>(drawn.tensors().size())));
  const Tensor& operand = drawn.tensors()[f];
  std::int64_t slices = 1;
  for (const DimId d : drawn.graph.factor_plates(f)) slices *= drawn.graph.dims()[d].size;
  if (slices > 6 || operand.dtype() != Dtype::float32) return;
  auto* const data = static_cast<float*>(operand.mutable_data());
  std::set<std::int64_t> seen;  // an entry may stand for several indices
  std::vector<std::int64_t> index(operand.rank(), 0);
  for (std::int64_t k = operand.elements(); k > 0; --k) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < operand.rank(); ++axis) at += index[axis] * operand.strides()[axis];
    if (seen.insert(at).second) data[at] -= 1536.0F;
    for (std::size_t axis = operand.rank(); axis-- > 0 && ++index[axis] == operand.shape()[axis];) index[axis] = 0;
  }
}

}  // namespace plated::test
