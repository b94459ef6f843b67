// Builds tensors from entries of another, chosen by tables of offsets.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plated/tensor.hpp"

namespace plated::reduce {

/// A new row-major tensor of that shape; its entry at an index is the source's at the sum of
/// offsets[axis][index[axis]].
[[nodiscard]] Tensor gather(const Tensor& source, const std::vector<std::vector<std::int64_t>>& offsets);

/// Visits every index of a shape in row-major order: visit(index).
template <class Visit>
void each_index(std::span<const std::int64_t> shape, const Visit& visit) {
  for (const std::int64_t size : shape) {
    if (size == 0) return;
  }
  std::vector<std::int64_t> index(shape.size(), 0);
  bool more = true;
  while (more) {
    visit(std::span<const std::int64_t>(index));
    more = false;
    for (std::size_t a = index.size(); a-- > 0 && !more;) {
      more = ++index[a] < shape[a];
      if (!more) index[a] = 0;
    }
  }
}

}  // namespace plated::reduce
