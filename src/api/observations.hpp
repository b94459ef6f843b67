// Decides which observed variables a run reads factors at, instead of multiplying a factor of ones and zeros in.
#pragma once

#include <string>
#include <vector>

#include "adjoint/asked.hpp"
#include "engine/ragged.hpp"
#include "graph/answer_axes.hpp"
#include "planner/problem.hpp"
#include "plated/evidence.hpp"
#include "plated/factor_graph.hpp"

namespace plated::api {

/// The variables among `observable`, whose evidence has the factors behind the graph's own, that a run with this
/// evidence reads factors at: those with slices, unless a chain carries their states on or factors know them by the
/// name of an end. Where slices that exist are not observed, a single factor must hold the variable, and no other one
/// that is read so.
[[nodiscard]] planner::Observations observations_of(const FactorGraph& graph, const graph::AnswerAxes& axes_of,
                                                    const std::vector<DimId>& observable,
                                                    const planner::Extents& extents, const engine::RaggedDims& lengths,
                                                    const IntegersByName& evidence);
/// The same for evidence of which just these names are known: of all slices, or of some.
[[nodiscard]] planner::Observations observations_of(const FactorGraph& graph, const graph::AnswerAxes& axes_of,
                                                    const std::vector<DimId>& observable,
                                                    const std::vector<std::string>& observed,
                                                    const std::vector<std::string>& partly_observed);

/// Those that the schedule of a question reads factors at: outputs have axes for states, and factors that are left out
/// of slices of a chain are joined to it by variables.
[[nodiscard]] planner::Observations observations_for(const adjoint::Asked& asked, const FactorGraph& graph,
                                                     planner::Observations observations);

}  // namespace plated::api
