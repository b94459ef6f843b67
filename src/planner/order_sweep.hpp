// Elimination sequences that sweep through the graph of dims from one end to the other: near optimal on grids.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/order_dim_graph.hpp"

namespace plated::planner {

enum class SweepRule : std::uint8_t {
  breadth,  ///< breadth first, low degrees first: Cuthill and McKee's order
  front,    ///< always the dim of the front that adds least to it
};

/// Sweeps every connected component, the first from `start`.
[[nodiscard]] std::vector<std::uint32_t> sweep_order(const DimGraph& graph, std::uint32_t start, SweepRule rule);

/// A dim far from all others: the end of a longest breadth-first path from one such end, found by going back and forth.
[[nodiscard]] std::uint32_t peripheral_dim(const DimGraph& graph, std::uint32_t from);

}  // namespace plated::planner
