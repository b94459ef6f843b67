// Finds barren variables, children before parents.
#include "graph/barren.hpp"

#include <algorithm>

namespace plated::graph {

std::vector<bool> named_along_chains(const FactorGraph& graph) {
  if (graph.chains().empty()) return {};
  std::vector<bool> named(graph.dims().size(), false);
  for (DimId d = 0; d < named.size(); ++d) {
    if (graph.dims()[d].end != End::none) named[d] = named[graph.dims()[d].of] = true;
  }
  for (const Chain& chain : graph.chains()) {
    for (const Link& link : chain.links) named[link.source] = named[link.target] = true;
  }
  return named;
}

std::vector<Barren> barren_variables(std::span<const FactorSets> factors, const std::vector<base::SortedSet>& plates,
                                     const std::function<bool(DimId)>& kept) {
  std::vector<std::vector<std::size_t>> holders(plates.size());
  for (std::size_t f = 0; f < factors.size(); ++f) {
    for (const DimId v : factors[f].variables) holders[v].push_back(f);
  }
  std::vector<std::size_t> count;
  std::vector<DimId> candidates;
  for (DimId v = 0; v < holders.size(); ++v) {
    count.push_back(holders[v].size());
    candidates.push_back(v);
  }
  std::vector<bool> gone(factors.size(), false);
  std::vector<Barren> found;
  while (!candidates.empty()) {
    const DimId v = candidates.back();
    candidates.pop_back();
    if (count[v] != 1 || kept(v)) continue;
    const std::size_t f = *std::find_if(holders[v].begin(), holders[v].end(), [&](std::size_t g) { return !gone[g]; });
    // In a plate that the variable is not in, the factor is a product of distributions, which does not sum to one.
    if (factors[f].distribution_of != v || !std::ranges::equal(factors[f].plates, plates[v])) continue;
    found.push_back({v, f});
    gone[f] = true;
    for (const DimId u : factors[f].variables) {
      --count[u];
      candidates.push_back(u);
    }
  }
  return found;
}

}  // namespace plated::graph
