// The axes of what a backtrace chooses, and names for the states where messages along a chain come out.
#pragma once

#include <vector>

#include "planner/extents.hpp"
#include "planner/problem.hpp"

namespace plated::adjoint {

/// A linked variable where the messages along its chain have come out: a variable outside of the chain, which no dim of
/// the graph stands for.
[[nodiscard]] DimId end_name(const planner::Problem& problem, DimId variable);

/// Batch dims, then plates, then chains, each in declaration order. The variable may be an end_name.
[[nodiscard]] std::vector<DimId> assignment_axes(const planner::Problem& problem, DimId variable);

/// How far a step along d goes in the row-major order of a variable's axes.
[[nodiscard]] std::int64_t number_stride(const planner::Problem& problem, const planner::Extents& extents,
                                         DimId variable, DimId d);

}  // namespace plated::adjoint
