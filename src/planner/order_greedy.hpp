// Pairwise greedy orders: repeatedly merges the pair with the best score, with noise for restarts.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "planner/order_live_network.hpp"

namespace plated::planner {

/// A pair scores size(result) − weight · (size(a) + size(b)), on a signed logarithmic scale; less is better.
struct GreedyOptions {
  double weight = 1;
  double temperature = 0;  ///< of the Gumbel noise on a score, in units of a factor of two; 0 is deterministic
};

/// Merges connected nodes, then the rest, smallest first.
void contract_greedily(LiveNetwork& live, const GreedyOptions& options, base::Random& random);

/// Merges live nodes without regard to shared dims: smallest two first.
void join_smallest_first(LiveNetwork& live, const std::vector<std::uint32_t>& nodes);

}  // namespace plated::planner
