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
    if (exponent[k] != 0) continue;
    const auto entry = static_cast<std::int64_t>(k);
    const bool follows = !runs_.empty() && runs_.back().first + runs_.back().count == entry;
    if (!follows) runs_.push_back({.first = entry, .count = 0});
    ++runs_.back().count;
  }
}

void Absent::erase(const Tensor& answer, double value) const {
  const auto erase_entry = [&](std::int64_t rest) {
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
  };
  for (const Run& run : runs_) {
    for (std::int64_t k = 0; k < run.count; ++k) erase_entry(run.first + k);
  }
}

void Absent::erase(Integers& states) const {
  if (runs_.empty()) return;
  for (std::size_t first = 0; first < states.values.size(); first += of_all_) {
    for (const Run& run : runs_) {
      std::fill_n(states.values.begin() + static_cast<std::ptrdiff_t>(first) + run.first, run.count, -1);
    }
  }
}

}  // namespace plated::engine
