// Computes slices of factors and outputs.
#include "graph/slices.hpp"

#include <algorithm>

namespace plated::graph {

Slice slice_of(std::size_t original, const std::vector<DimId>& dims, DimId plate, std::int64_t slice) {
  Slice result{original, {}};
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == plate) result.index.emplace_back(axis, slice);
  }
  return result;
}

Slice composed(const Slice& outer, const Slice& inner, std::size_t rank) {
  std::vector<std::size_t> free;
  auto fixed = outer.index.begin();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (fixed != outer.index.end() && fixed->first == axis) {
      ++fixed;
    } else {
      free.push_back(axis);
    }
  }
  Slice result = outer;
  for (const auto& [axis, at] : inner.index) result.index.emplace_back(free[axis], at);
  std::sort(result.index.begin(), result.index.end());
  return result;
}

}  // namespace plated::graph
