// Merges that need no search: a tensor whose dims another one has as well is folded into it.
#pragma once

#include "planner/order_live_network.hpp"

namespace plated::planner {

/// Folds until nothing folds: duplicates, unaries, and, because a fold may leave a dim to one tensor alone and sum it,
/// whole chains and trees. The cost of a fold is that of a tensor it involves, up to a factor of two.
void fold_subsets(LiveNetwork& live);

}  // namespace plated::planner
