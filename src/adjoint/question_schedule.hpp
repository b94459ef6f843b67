// The first and last stages that the schedules of all questions share.
#pragma once

#include "planner/planner.hpp"
#include "planner/schedule.hpp"

namespace plated::adjoint {

/// A plan that a sweep can walk backwards.
[[nodiscard]] planner::Schedule forward(const FactorGraph& graph, planner::Options options);

/// The schedule, once all steps are appended.
[[nodiscard]] planner::Schedule finished(planner::Schedule schedule, const planner::Options& options);

}  // namespace plated::adjoint
