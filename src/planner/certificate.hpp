// Proves a graph intractable: finds the forbidden minor of [TVE] Thm. 1 in the original graph.
#pragma once

#include "planner/problem.hpp"
#include "plated/error.hpp"

namespace plated::planner {

/// The error for a leaf whose message keeps `entangled` variables that no smaller plate set holds.
[[nodiscard]] IntractableError intractable(const Problem& problem, const FactorGraph& graph,
                                           const SortedSet& entangled);

}  // namespace plated::planner
