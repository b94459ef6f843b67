// Builds the graph of dims: each tensor is a clique.
#include "planner/order_dim_graph.hpp"

#include <algorithm>

namespace plated::planner {

DimGraph::DimGraph(const Network& network) : log2_size(network.log2_size), neighbours(network.log2_size.size()) {
  std::vector<char> held(log2_size.size(), 0);
  for (const std::vector<std::uint32_t>& dims : network.tensors) {
    for (const std::uint32_t d : dims) {
      held[d] = 1;
      for (const std::uint32_t e : dims) {
        if (e != d) neighbours[d].push_back(e);
      }
    }
  }
  for (std::uint32_t d = 0; d < neighbours.size(); ++d) {
    std::sort(neighbours[d].begin(), neighbours[d].end());
    neighbours[d].erase(std::unique(neighbours[d].begin(), neighbours[d].end()), neighbours[d].end());
    if (held[d]) used.push_back(d);
  }
}

}  // namespace plated::planner
