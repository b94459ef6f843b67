// How many slices of plates and chains exist in one call, checked.
#pragma once

#include <string>
#include <vector>

#include "engine/ragged.hpp"
#include "planner/extents.hpp"
#include "plated/evidence.hpp"

namespace plated::engine {

/// The lengths of ragged plates and chains; those that have all their slices are left out. Throws
/// UnknownNameError, ShapeError, ValueError, OptionError, and PlateError where they depend on plates that some factor
/// or variable of the plate lacks.
[[nodiscard]] RaggedDims ragged_plates(const FactorGraph& graph, const planner::Extents& extents,
                                       const IntegersByName& lengths);

/// The plate of that name, or chain, for which something is given. Throws UnknownNameError.
[[nodiscard]] DimId plate_named(const FactorGraph& graph, const std::string& name, const char* what,
                                bool or_chain = false);

}  // namespace plated::engine
