// Joins links end to end.
#include "graph/link_paths.hpp"

namespace plated::graph {

LinkPaths::LinkPaths(const FactorGraph& graph) : places_(graph.dims().size()) {
  std::vector<std::optional<DimId>> next(graph.dims().size());
  std::vector<bool> is_target(graph.dims().size(), false);
  for (const Chain& chain : graph.chains()) {
    for (const Link& link : chain.links) {
      next[link.source] = link.target;
      is_target[link.target] = true;
    }
  }
  for (const Chain& chain : graph.chains()) {
    for (const Link& link : chain.links) {
      if (is_target[link.source]) continue;
      LinkPath path{chain.dim, {}};
      for (std::optional<DimId> v = link.source; v; v = next[*v]) {
        places_[*v] = LinkPlace{paths_.size(), static_cast<std::int64_t>(path.variables.size())};
        path.variables.push_back(*v);
      }
      paths_.push_back(std::move(path));
    }
  }
}

}  // namespace plated::graph
