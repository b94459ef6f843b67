// The origin of each copy in an unrolled graph: slices, and slices of slices.
#pragma once

#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::graph {

/// The slice of an original with axes `dims` at one index of a plate.
[[nodiscard]] Slice slice_of(std::size_t original, const std::vector<DimId>& dims, DimId plate, std::int64_t slice);

/// The slice of an original that a slice of a slice is; `rank` is the original's.
[[nodiscard]] Slice composed(const Slice& outer, const Slice& inner, std::size_t rank);

template <class Item>
std::vector<Slice> whole(const std::vector<Item>& items) {
  std::vector<Slice> slices(items.size());
  for (std::size_t k = 0; k < items.size(); ++k) slices[k].original = k;
  return slices;
}

template <class Item>
std::vector<Slice> composed(const std::vector<Slice>& outer, const std::vector<Slice>& inner,
                            const std::vector<Item>& originals) {
  std::vector<Slice> result;
  result.reserve(inner.size());
  for (const Slice& slice : inner) {
    const Slice& from = outer[slice.original];
    result.push_back(composed(from, slice, originals[from.original].dims.size()));
  }
  return result;
}

}  // namespace plated::graph
