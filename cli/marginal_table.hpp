// Lays out marginals as a table, with a note on variables that are observed in every slice.
#pragma once

#include <map>
#include <string>

#include "plated/model.hpp"
#include "plated/tensor.hpp"
#include "slices.hpp"

namespace plated::cli {

/// Variables with the same states share a block, a column per state and a line per slice; where there are too many
/// states for a line, each slice lists those that have a probability.
[[nodiscard]] std::string marginal_table(const Model& model, const std::map<std::string, Tensor>& marginals);

/// Whether every slice is observed: then tables say so in a line instead of a line for each.
[[nodiscard]] bool is_observed(const Model& model, const Slices& of);
[[nodiscard]] std::string observed_line(const Model& model, const Slices& of);

}  // namespace plated::cli
