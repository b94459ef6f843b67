// Whether the logarithms of a model can add up to more than a float holds.
#pragma once

#include "plated/model.hpp"

namespace plated::reduce {

/// Throws ValueError where the largest logarithms of a model's factors, each counted once a slice, add up to more than
/// the type that it is solved in can hold: a sum would be infinite and a difference of two such sums not a number. What
/// is large and negative becomes −inf, the weight zero, and does no harm. Weights have logarithms below 710 and pass.
void check_log_range(const Model& model);

}  // namespace plated::reduce
