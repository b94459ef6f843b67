// Proves a graph intractable: finds the forbidden minor of [TVE] Thm. 1 in the original graph.
#pragma once

#include "planner/problem.hpp"
#include "plated/error.hpp"

namespace plated::planner {

/// The error for a leaf whose message keeps `entangled` variables that no smaller plate set holds.
[[nodiscard]] IntractableError intractable(const Problem& problem, const FactorGraph& graph,
                                           const SortedSet& entangled);

/// The error for a variable `other` of some slices that joins the slices of other plates in which a chain links its
/// variables.
[[nodiscard]] IntractableError entangled_slices(const Problem& problem, const FactorGraph& graph,
                                                const ProblemLink& link, DimId other);
/// The error for variables that two chains link, each in every slice of the other.
[[nodiscard]] IntractableError entangled_chains(const Problem& problem, const FactorGraph& graph, const ProblemLink& a,
                                                const ProblemLink& b);

}  // namespace plated::planner
