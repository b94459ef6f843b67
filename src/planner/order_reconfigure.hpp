// Subtree reconfiguration: solves small subtrees to optimality until none improves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/order_deadline.hpp"
#include "planner/order_tree.hpp"

namespace plated::planner {

struct ReconfigureOptions {
  std::size_t piece = 8;            ///< subtrees in a piece
  std::uint64_t max_pieces = 5000;  ///< pieces solved, gain or not
};

/// Improves the tree piece by piece, sweep after sweep, as long as a sweep gains. Never makes it worse.
void reconfigure(OrderTree& tree, const ReconfigureOptions& options, const Deadline& deadline);

}  // namespace plated::planner
