// What the oracle has to do for a graph with chains.
#pragma once

#include <vector>

#include "oracle/world.hpp"

namespace plated::test {

/// Assignments × sites, over all batches.
inline double chain_work(const FactorGraph& graph, const Lengths& lengths) {
  double total = 0;
  oracle::Index at(graph.dims().size(), 0);
  oracle::for_each_index(graph, oracle::Slices(graph, {}).batch(), at, [&] {
    oracle::World world(graph, at, {}, lengths);
    double assignments = 1, sites = 1 + static_cast<double>(world.factors.size());
    for (const std::int64_t domain : world.domains) assignments *= static_cast<double>(domain);
    for (std::size_t o = 0; o < graph.outputs().size(); ++o) {
      const std::vector<DimId>& axes = graph.outputs()[o].dims;
      sites += static_cast<double>(world.sites(o, axes, world.slices.sliced(axes)).size());
    }
    total += assignments * sites;
  });
  return total;
}

}  // namespace plated::test
