// The shapes of evidence and lengths.
#pragma once

#include <cstdint>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::model {

/// The sizes of dims, those of batch dims in front of them if wanted.
[[nodiscard]] inline std::vector<std::int64_t> sizes_of(const FactorGraph& graph, const std::vector<DimId>& dims,
                                                        bool with_batch) {
  std::vector<std::int64_t> sizes;
  for (const Dim& dim : graph.dims()) {
    if (with_batch && dim.kind == DimKind::batch) sizes.push_back(dim.size);
  }
  for (const DimId dim : dims) sizes.push_back(graph.dims()[dim].size);
  return sizes;
}

}  // namespace plated::model
