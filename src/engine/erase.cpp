// Finds what is not there, and overwrites it.
#include "engine/erase.hpp"

#include <algorithm>

namespace plated::engine {

Absent::Absent(const planner::Extents& extents, const Exponents& exponents, const std::vector<DimId>& axes) {
  const bool concerned =
      std::any_of(exponents.begin(), exponents.end(), [&](const auto& entry) { return holds(axes, entry.first); });
  if (!concerned) return;
  const std::vector<double> exponent = product_over(extents, exponents, axes);
  of_all_ = exponent.size();
  for (std::size_t k = 0; k < exponent.size(); ++k) {
    if (exponent[k] == 0) entries_.push_back(static_cast<std::int64_t>(k));
  }
}

void Absent::erase(const Tensor& answer, double value) const {
  for (const std::int64_t entry : entries_) {
    std::int64_t rest = entry;
    std::int64_t offset = 0;
    for (std::size_t axis = answer.shape().size(); axis-- > 0;) {
      offset += rest % answer.shape()[axis] * answer.strides()[axis];
      rest /= answer.shape()[axis];
    }
    if (answer.dtype() == Dtype::float32) {
      static_cast<float*>(answer.mutable_data())[offset] = static_cast<float>(value);
    } else {
      static_cast<double*>(answer.mutable_data())[offset] = value;
    }
  }
}

void Absent::erase(Integers& states) const {
  if (entries_.empty()) return;
  for (std::size_t first = 0; first < states.values.size(); first += of_all_) {
    for (const std::int64_t entry : entries_) states.values[first + static_cast<std::size_t>(entry)] = -1;
  }
}

}  // namespace plated::engine
