// What the slices of plates are raised to in one call: their weights, and zeros where a ragged plate has no slices.
#pragma once

#include <map>
#include <vector>

#include "api/plan_impl.hpp"

namespace plated::api {

class Call;

/// Numbers for each index of some dims: batch dims and plates around a plate, if they depend on these, then the plate.
struct Exponent {
  std::vector<DimId> axes;
  std::vector<double> values;  // row-major
};
using Exponents = std::map<DimId, Exponent>;

/// The lengths of ragged plates of a graph without chains; plates that have all their slices are left out. Throws
/// UnknownNameError, ShapeError, ValueError, and PlateError where they depend on plates that some factor or variable of
/// the plate lacks.
[[nodiscard]] chain::RaggedChains ragged_plates(const FactorGraph& graph, const planner::Extents& extents,
                                                const Lengths& lengths);

/// One exponent for each plate that is ragged, and for each that has weights. Throws what ragged_plates throws, and for
/// weights UnknownNameError, SizeError, NullDataError and ValueError.
[[nodiscard]] Exponents exponents_of(const FactorGraph& graph, const planner::Extents& extents,
                                     const chain::RaggedChains& lengths, const Weights& weights = {});

/// What a run brings along for them, one tensor for each weighted plate, ascending.
[[nodiscard]] std::vector<Tensor> exponent_operands(const Call& call);
/// Puts the semiring's ones where a plate has no slices: copies of operands that have an axis for one.
void fill_padding(const Call& call, Semiring semiring, std::vector<Tensor>& operands);
/// The bytes of these copies.
[[nodiscard]] std::int64_t padding_bytes(const Call& call);
/// Cotangents, directions or statistics with these axes, with zeros where a plate has no slices.
[[nodiscard]] Tensor zero_padded(const Call& call, const std::vector<DimId>& axes, const Tensor& given);

}  // namespace plated::api
