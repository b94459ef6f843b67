// Writes arrays as nested lists.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::io {

/// Nested lists; `item` appends the entry at an index. Rows stand on lines of their own where there are many.
template <class Item>
void append_nested(std::string& text, const std::vector<std::int64_t>& shape, const std::string& indent,
                   const Item& item) {
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t entries = 1;
  for (const std::int64_t extent : shape) entries *= extent;
  const bool tall = entries > 8;
  const auto append = [&](const auto& self, std::size_t axis) -> void {
    if (axis == shape.size()) {
      item(text, index);
      return;
    }
    text += '[';
    for (index[axis] = 0; index[axis] < shape[axis]; ++index[axis]) {
      if (index[axis] > 0) text += tall && axis + 1 < shape.size() ? ",\n" + indent + std::string(axis, ' ') : ", ";
      self(self, axis + 1);
    }
    text += ']';
  };
  append(append, 0);
}

/// The file declares plates before chains: axes of a graph that declares them otherwise are put in that order. Which
/// axis of the array, which may have batch dims in front, each axis of the file is.
inline std::vector<std::size_t> file_axes(const FactorGraph& graph, const std::vector<DimId>& plates,
                                          std::size_t rank) {
  std::vector<DimId> ordered = plates;
  std::stable_partition(ordered.begin(), ordered.end(),
                        [&](DimId d) { return graph.dims()[d].kind != DimKind::chain; });
  const std::size_t leading = rank - plates.size();
  std::vector<std::size_t> axes;
  for (std::size_t k = 0; k < leading; ++k) axes.push_back(k);
  for (const DimId plate : ordered) {
    axes.push_back(leading + static_cast<std::size_t>(std::find(plates.begin(), plates.end(), plate) - plates.begin()));
  }
  return axes;
}

}  // namespace plated::io
