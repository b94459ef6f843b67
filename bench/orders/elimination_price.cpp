// Eliminates variables one by one, in the order in which a tree sums them.
#include "elimination_price.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace bench {
namespace {

using plated::planner::Network;
using plated::planner::Tree;

/// For each merge, the dims it sums.
std::vector<std::vector<std::uint32_t>> summed_dims(const Network& network, const Tree& tree) {
  std::vector<int> holders(network.log2_size.size(), 0);
  std::vector<std::set<std::uint32_t>> nodes;
  for (const auto& dims : network.tensors) {
    for (const std::uint32_t d : dims) ++holders[d];
    nodes.emplace_back(dims.begin(), dims.end());
  }
  std::vector<std::vector<std::uint32_t>> summed;
  if (tree.merges.empty() && !nodes.empty()) summed.emplace_back(nodes[0].begin(), nodes[0].end());
  for (const auto& [a, b] : tree.merges) {
    std::set<std::uint32_t> merged = nodes[a];
    for (const std::uint32_t d : nodes[b]) {
      if (!merged.insert(d).second) --holders[d];
    }
    summed.emplace_back();
    for (const std::uint32_t d : merged) {
      if (holders[d] == 1) summed.back().push_back(d);
    }
    for (const std::uint32_t d : summed.back()) merged.erase(d);
    nodes.push_back(std::move(merged));
  }
  return summed;
}

}  // namespace

double log2_elimination(const Network& network, const Tree& tree) {
  std::vector<std::set<std::uint32_t>> near(network.log2_size.size());
  for (const auto& dims : network.tensors) {
    for (const std::uint32_t d : dims) near[d].insert(dims.begin(), dims.end());
  }
  for (std::uint32_t d = 0; d < near.size(); ++d) near[d].erase(d);
  double total = 0;
  for (std::vector<std::uint32_t> group : summed_dims(network, tree)) {
    while (!group.empty()) {
      const auto smallest = std::min_element(group.begin(), group.end(), [&](std::uint32_t a, std::uint32_t b) {
        return near[a].size() < near[b].size();
      });
      const std::uint32_t d = *smallest;
      group.erase(smallest);
      double clique = network.log2_size[d];
      for (const std::uint32_t e : near[d]) {
        clique += network.log2_size[e];
        near[e].insert(near[d].begin(), near[d].end());
        near[e].erase(e);
        near[e].erase(d);
      }
      total += std::exp2(clique);
    }
  }
  return std::log2(total);
}

}  // namespace bench
