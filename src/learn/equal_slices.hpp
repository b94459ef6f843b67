// Finds slices of a plate with equal data: each is evaluated once, and weighs as many.
#pragma once

#include "plated/fit.hpp"

namespace plated::learn {

/// A model with its data, and how many copies the slices of its plates stand for.
struct WeightedModel {
  Model model;
  Weights weights;
};

/// Joins the slices of plates that nothing but their data tell apart: no factor has an axis for the plate, no number
/// or row is about its slices, and no length depends on it. A plate is left as it is unless at most half of its slices
/// are left. ln Z and all counts stay the same, to rounding.
[[nodiscard]] WeightedModel join_equal_slices(Model model, Weights weights);

}  // namespace plated::learn
