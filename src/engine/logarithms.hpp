// Logarithms of weights, for questions about a posterior.
#pragma once

#include <string>

#include "plated/tensor.hpp"

namespace plated::engine {

struct Logarithms {
  Tensor tensor;  // float64: a rounded logarithm would count once for each slice
  double magnitude = 0;
};

/// Throws ValueError for a negative entry; `what` begins the message. `memory` is written to if it is a float64 array
/// of their shape, which nobody reads any more.
[[nodiscard]] Logarithms logarithms(const Tensor& weights, const std::string& what, Tensor memory = {});

}  // namespace plated::engine
