// What the slices of plates are raised to in one call: their weights, and zeros where a ragged plate has no slices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/lengths.hpp"
#include "planner/extents.hpp"
#include "plated/evidence.hpp"

namespace plated::engine {

/// Numbers for each index of some dims: batch dims and plates around a plate, if they depend on these, then the plate.
struct Exponent {
  std::vector<DimId> axes;
  std::vector<double> values;  // row-major
};
using Exponents = std::map<DimId, Exponent>;

/// One exponent for each plate that is ragged, and for each that has weights. Throws what ragged_plates throws, and for
/// weights UnknownNameError, SizeError, NullDataError and ValueError.
[[nodiscard]] Exponents exponents_of(const FactorGraph& graph, const planner::Extents& extents,
                                     const RaggedDims& lengths, const Weights& weights = {});

/// Puts other weights of the same plates, which have no lengths, into exponents. Throws ValueError.
void renew_weights(const FactorGraph& graph, const Weights& weights, Exponents& exponents);

/// The axes of the exponents of plates by name, where weights and lengths are given for these; lengths have all axes
/// that they may have. Throws UnknownNameError.
[[nodiscard]] std::map<DimId, std::vector<DimId>> exponent_axes(const FactorGraph& graph,
                                                                const std::vector<std::string>& weights,
                                                                const std::vector<std::string>& lengths);

/// Adds those that tell the first or last slice of a chain from others, for ends that are variables of these slices.
void add_point_ends(const FactorGraph& graph, const planner::Extents& extents, const RaggedDims& lengths,
                    Exponents& exponents);

/// What a run brings along for them, one tensor for each plate, ascending.
[[nodiscard]] std::vector<Tensor> exponent_operands(const planner::Extents& extents, const Exponents& exponents);

/// The product of all exponents of plates among some dims, row-major: of the largest, over dims that are not among
/// them.
[[nodiscard]] std::vector<double> product_over(const planner::Extents& extents, const Exponents& exponents,
                                               const std::vector<DimId>& dims);

}  // namespace plated::engine
