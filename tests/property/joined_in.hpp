// Tells which variables of a chain's slices factors and links join.
#pragma once

#include <algorithm>
#include <vector>

#include "oracle/slices.hpp"

namespace plated::test {

/// A number for each variable: the same for variables of a chain's slices that factors join, in a slice or along it.
inline std::vector<DimId> joined_in(const FactorGraph& graph, DimId chain) {
  const auto plates = graph.variable_plates();
  std::vector<std::vector<DimId>> together;
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    if (!oracle::contains(graph.factor_plates(f), chain)) continue;
    together.push_back(graph.factor_variables(f));
    std::erase_if(together.back(), [&](DimId v) { return !oracle::contains(plates[v], chain); });
  }
  for (const Chain& c : graph.chains()) {
    for (const Link& link : c.links) together.push_back({link.source, link.target});
  }
  std::vector<DimId> label(graph.dims().size());
  for (DimId v = 0; v < label.size(); ++v) label[v] = v;
  for (std::size_t round = 0; round < label.size(); ++round) {
    for (const std::vector<DimId>& group : together) {
      for (const DimId u : group) {
        for (const DimId w : group) label[u] = std::min(label[u], label[w]);
      }
    }
  }
  return label;
}

}  // namespace plated::test
