// Orders of small networks that keep to a limit of memory, by dynamic programming over subsets.
#pragma once

#include <cstddef>
#include <optional>

#include "planner/contraction_order.hpp"

namespace plated::planner {

/// A tree whose log2_peak is at most `log2_most`, of few operations; where there is none, one of least peak. None for
/// networks of more tensors than `limit`.
[[nodiscard]] std::optional<Tree> fitting_order(const Network& network, std::size_t limit, double log2_most);

}  // namespace plated::planner
