// Elimination sequences by local rules on the graph of dims: min-fill, its weighted form, and smallest clique.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "planner/order_dim_graph.hpp"

namespace plated::planner {

enum class EliminationRule : std::uint8_t {
  fill,           ///< fewest new edges
  weighted_fill,  ///< least sum over new edges of the product of their ends' log sizes
  size,           ///< smallest clique: product of the sizes of a dim and its neighbours
};

struct EliminationOptions {
  EliminationRule rule = EliminationRule::fill;
  /// A score is multiplied by 1 + noise · u, u uniform, and ties are random. 0 is deterministic, lowest dim first.
  double noise = 0;
};

/// The used dims in the order in which the rule eliminates them.
[[nodiscard]] std::vector<std::uint32_t> min_fill_order(const DimGraph& graph, const EliminationOptions& options,
                                                        base::Random& random);

}  // namespace plated::planner
