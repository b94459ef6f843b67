// Prices a contraction tree: operations and the largest intermediate, as base-2 logarithms to avoid overflow.
#include <algorithm>

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

}  // namespace plated::planner
