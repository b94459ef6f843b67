// Counts observations, and finds states that could be swapped.
#pragma once

#include <string>
#include <vector>

#include "plated/fit.hpp"

namespace plated::learn {

/// Of models with their data. The slices of plates and chains that all observed variables share and no
/// learnt factor has axes for; weighted slices count as often as they weigh.
[[nodiscard]] double count_observations(const Model& model, const Weights& weights, const std::vector<bool>& learnt);

/// The cells that are observed.
[[nodiscard]] double count_cells(const Model& model);

/// A line for each variable that nothing is known of but what is learnt: its states have no names of their own.
[[nodiscard]] std::vector<std::string> swappable_states(const Model& model, const std::vector<bool>& learnt);

}  // namespace plated::learn
