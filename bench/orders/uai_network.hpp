// Reads as much of the UAI format as a network's shape needs.
#pragma once

#include <filesystem>

#include "planner/contraction_order.hpp"

namespace plated::bench {

/// Scopes of a model after the evidence beside it (`<path>.evid`): observed variables and those of one state are gone,
/// and with them the factors that they leave without any. The tables are not read.
[[nodiscard]] planner::Network read_uai_network(const std::filesystem::path& path);

}  // namespace plated::bench
