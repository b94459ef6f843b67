// Reads the queries of a command line.
#pragma once

#include <string>
#include <vector>

#include "plated/model.hpp"

namespace plated::cli {

/// The variables of each `--query`, by the graph's names: one, or several with commas in between. A name that has
/// commas itself, as those of unrolled models do, is found whole. Throws UsageError, which lists the variables there
/// are, for a name that the model lacks and for what is asked for twice.
[[nodiscard]] std::vector<std::vector<std::string>> read_queries(const Model& model,
                                                                 const std::vector<std::string>& queries);

}  // namespace plated::cli
