// Networks of UAI files.
#pragma once

#include <filesystem>

#include "planner/contraction_order.hpp"

namespace bench {

/// Scopes of a model after the evidence beside it (`<path>.evid`): observed variables and those of one state are gone,
/// and with them the factors that they leave without any. Throws what plated::read_model throws.
[[nodiscard]] plated::planner::Network read_uai_network(const std::filesystem::path& path);

}  // namespace bench
