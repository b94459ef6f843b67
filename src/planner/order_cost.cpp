// Prices a contraction tree: operations and the largest intermediate, as base-2 logarithms to avoid overflow.
#include <algorithm>
#include <cmath>
#include <vector>

#include "planner/contraction_order.hpp"
#include "planner/order_live_network.hpp"

namespace plated::planner {

double log2_flops(const Network& network, const Tree& tree) {
  LiveNetwork live(network);
  for (const auto& [a, b] : tree.merges) live.merge(a, b);
  return live.log2_flops();
}

double log2_largest(const Network& network, const Tree& tree) {
  LiveNetwork live(network);
  double largest = 0;
  for (const auto& [a, b] : tree.merges) largest = std::max(largest, live.log2_size(live.merge(a, b)));
  return largest;
}

double log2_peak(const Network& network, const Tree& tree) {
  Network slice = network;
  for (std::size_t d = 0; d < slice.sliced.size(); ++d) {
    if (slice.sliced[d]) slice.log2_size[d] = 0;
  }
  LiveNetwork live(slice);
  const std::size_t leaves = network.tensors.size();
  // Of each node: its own elements, none for those that are given, and the most in use while it is computed.
  std::vector<double> own(leaves, 0);
  std::vector<double> peak(leaves, 0);
  for (const auto& [a, b] : tree.merges) {
    own.push_back(std::exp2(live.log2_size(live.merge(a, b))));
    // The side that needs more comes first, while nothing else is held.
    const auto [later, first] = std::minmax(a, b, [&](std::uint32_t x, std::uint32_t y) { return peak[x] < peak[y]; });
    peak.push_back(std::max({peak[first], own[first] + peak[later], own[a] + own[b] + own.back()}));
  }
  return peak.empty() ? 0 : std::log2(std::max(1.0, peak.back()));
}

}  // namespace plated::planner
