// Divides probabilities by their sum.
#pragma once

#include <vector>

#include "plated/factor_graph.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// Makes the entries of each slice of a posterior sum to one to rounding, none above it, in place and in any strides.
/// The axes that are variables hold a slice's states. Slices of no mass stay so.
void normalise(const FactorGraph& graph, const std::vector<DimId>& axes, const Tensor& posterior, int threads);

}  // namespace plated::engine
