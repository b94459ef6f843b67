// Lays out marginals as a table, with a note on variables that are observed in every slice.
#pragma once

#include <string>
#include <vector>

#include "answer.hpp"

namespace plated::cli {

/// Variables with the same states share a block, a column per state and a line per slice. Where there are too many
/// states for a line, the table is turned: a line per state and a column per slice, as many as fit side by side.
[[nodiscard]] std::string marginal_table(const Model& model, const std::vector<Posterior>& marginals);

/// Whether every slice is observed: then tables say so in a line instead of a line for each.
[[nodiscard]] bool is_observed(const Model& model, const Slices& of);
[[nodiscard]] std::string observed_line(const Model& model, const Slices& of);

}  // namespace plated::cli
