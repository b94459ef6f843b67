// Clears answers in slices that count for nothing: those that a ragged plate does not have, or of weight zero.
#pragma once

#include <vector>

#include "engine/exponents.hpp"
#include "plated/integers.hpp"

namespace plated::engine {

/// Overwrites an answer in slices whose exponent is zero, at every index of the dims that the answer lacks.
void erase(const planner::Extents& extents, const Exponents& exponents, const std::vector<DimId>& axes,
           const Tensor& answer, double value);
/// The same of states, which become −1; several samples lie one after the other.
void erase(const planner::Extents& extents, const Exponents& exponents, const std::vector<DimId>& axes,
           Integers& states);

}  // namespace plated::engine
