// Barren variables: those that sum to one with their own distribution.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/sorted_set.hpp"
#include "plated/factor_graph.hpp"

namespace plated::graph {

/// A factor as the search for barren variables sees it; the sets are the caller's.
struct FactorSets {
  std::span<const DimId> variables;
  std::span<const DimId> plates;
  std::optional<DimId> distribution_of;
};

/// A barren variable, and the distribution that it falls with.
struct Barren {
  DimId variable = 0;
  std::size_t factor = 0;
};

/// By DimId, which variables have states that a chain knows under other names, too: linked ones, ends, and what has
/// ends. None of them is barren for being held by one factor alone. Empty without chains.
[[nodiscard]] std::vector<bool> named_along_chains(const FactorGraph& graph);

/// A variable that only its own distribution holds sums to one with it, which may make its parents barren in turn. In
/// the order in which they fall. `plates` are those of each variable by DimId; what is `kept` is not looked at.
[[nodiscard]] std::vector<Barren> barren_variables(std::span<const FactorSets> factors,
                                                   const std::vector<base::SortedSet>& plates,
                                                   const std::function<bool(DimId)>& kept);

}  // namespace plated::graph
