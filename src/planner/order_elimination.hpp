// Variable elimination: a sequence of dims turned into merges, bucket by bucket.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/order_live_network.hpp"

namespace plated::planner {

/// For each dim in turn, merges all nodes that hold it, which sums it. Inside a bucket the pair with the smallest joint
/// size goes first, so that the whole bucket's dims meet only in the last merge. Ends with one node.
void eliminate_in_order(LiveNetwork& live, const std::vector<std::uint32_t>& dims);

}  // namespace plated::planner
