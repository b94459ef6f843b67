// The last stage that the schedules of all questions share.
#pragma once

#include "planner/schedule.hpp"

namespace plated::adjoint {

/// The schedule, once all steps are appended.
[[nodiscard]] planner::Schedule finished(planner::Schedule schedule);

}  // namespace plated::adjoint
