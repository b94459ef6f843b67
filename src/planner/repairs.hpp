// Repairs of an intractable graph: which plates to unroll, and at what cost.
#pragma once

#include "planner/planner.hpp"
#include "plated/error.hpp"

namespace plated::planner {

/// The error with its repairs, as data and in words: the certificate's plates are unrolled, each alone and both, and
/// the plans of what results are priced. Graphs of thousands of factors are not tried.
[[nodiscard]] IntractableError with_repairs(const IntractableError& error, const FactorGraph& graph,
                                            const Options& options);

}  // namespace plated::planner
