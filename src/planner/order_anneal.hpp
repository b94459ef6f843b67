// Simulated annealing of a tree by rotations.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "planner/order_deadline.hpp"
#include "planner/order_tree.hpp"

namespace plated::planner {

/// A rotation that multiplies the operations of the two merges it touches by r > 1 is taken with probability r^−β; β
/// grows geometrically from `first_beta` to `last_beta`.
struct AnnealOptions {
  std::uint64_t moves = 100'000;
  double first_beta = 2;
  double last_beta = 16;
};

/// Leaves the tree as the last move left it, which may be worse than it was.
void anneal(OrderTree& tree, const AnnealOptions& options, base::Random& random, const Deadline& deadline);

}  // namespace plated::planner
