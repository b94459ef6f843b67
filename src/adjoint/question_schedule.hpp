// The first and last stages that the schedules of all questions share.
#pragma once

#include "planner/planner.hpp"
#include "planner/schedule.hpp"

namespace plated::adjoint {

/// A plan that a sweep can walk backwards.
[[nodiscard]] planner::Schedule forward(const FactorGraph& graph, planner::Options options);

/// Buffers anew, now that all steps are known.
[[nodiscard]] planner::Schedule finished(planner::Schedule schedule, const planner::Options& options);

}  // namespace plated::adjoint
