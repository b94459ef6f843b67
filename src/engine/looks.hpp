// Which operands and outputs a bound run looks at as it reads and writes them.
#pragma once

#include "engine/bound_schedule.hpp"

namespace plated::engine {

/// Fills BoundStep::looks_at and shows, and BoundSchedule::looked_at and shown.
void find_looks(const planner::Schedule& schedule, BoundSchedule& bound);

}  // namespace plated::engine
