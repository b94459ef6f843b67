// Ends of a chain that are variables of its first or last slice, rather than a state at either end of all slices.
#pragma once

#include <map>
#include <vector>

#include "planner/problem.hpp"

namespace plated::planner {

/// The key of the exponents, among those that runs bring along, that are 1 where an end and its variable differ. The
/// end itself is the key of those that are 1 in its slice, and 0 in others.
[[nodiscard]] constexpr DimId differing(DimId end) { return end | 0x80000000U; }
[[nodiscard]] constexpr DimId end_of_exponents(DimId key) { return key & 0x7fffffffU; }

/// Whether a dim is such an end: neither `^source` nor `target$` of a link.
[[nodiscard]] bool is_point_end(const FactorGraph& graph, DimId dim);
/// The chain that an end is of.
[[nodiscard]] DimId chain_of(const FactorGraph& graph, DimId end);

/// Adds the axes of the exponents of all such ends to those of the weights that runs bring along.
void add_exponents_of_ends(const FactorGraph& graph, std::map<DimId, std::vector<DimId>>& exponents);

/// Moves factors that hold such ends into the slices, where they are raised to the power of 1 or 0. Ends that outputs
/// ask for, or factors that cannot be moved, become variables of their own, and a factor of the slices holds them equal
/// to theirs.
void place_point_ends(const FactorGraph& graph, Problem& problem);

}  // namespace plated::planner
