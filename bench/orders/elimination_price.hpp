// A tree priced the way elimination orders are: the sum over variables of the clique that each one's elimination makes.
#pragma once

#include "planner/contraction_order.hpp"

namespace bench {

/// Base 2. This rule counts a bucket of many factors as one pass over its clique, where pairwise merges need several,
/// so the two prices of a tree are not comparable with each other; min-fill totals are usually given by this one.
[[nodiscard]] double log2_elimination(const plated::planner::Network& network, const plated::planner::Tree& tree);

}  // namespace bench
