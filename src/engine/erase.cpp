// Finds what is not there, and overwrites it.
#include "engine/erase.hpp"

#include <algorithm>

#include "engine/each_index.hpp"

namespace plated::engine {

void erase(const planner::Extents& extents, const Exponents& exponents, const std::vector<DimId>& axes,
           const Tensor& answer, double value) {
  const bool concerned =
      std::any_of(exponents.begin(), exponents.end(), [&](const auto& entry) { return holds(axes, entry.first); });
  if (!concerned) return;
  const std::vector<double> exponent = product_over(extents, exponents, axes);
  for_each_index(answer.shape(), [&](std::size_t k, const std::vector<std::int64_t>& at) {
    if (exponent[k] != 0) return;
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) offset += at[axis] * answer.strides()[axis];
    if (answer.dtype() == Dtype::float32) {
      static_cast<float*>(answer.mutable_data())[offset] = static_cast<float>(value);
    } else {
      static_cast<double*>(answer.mutable_data())[offset] = value;
    }
  });
}

void erase(const planner::Extents& extents, const Exponents& exponents, const std::vector<DimId>& axes,
           Integers& states) {
  if (exponents.empty()) return;
  const std::vector<double> exponent = product_over(extents, exponents, axes);
  for (std::size_t k = 0; k < states.values.size(); ++k) {
    if (exponent[k % exponent.size()] == 0) states.values[k] = -1;
  }
}

}  // namespace plated::engine
