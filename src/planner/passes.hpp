// Passes over a finished list of steps, one per file.
#pragma once

#include "planner/schedule.hpp"

namespace plated::planner {

/// Folds a plain elementwise product into the one contraction that reads it, where that repeats no work.
void fuse_elementwise(Schedule& schedule);

/// Drops last steps that only copy: the step before writes the output itself.
void deliver_directly(Schedule& schedule);

/// Gives each intermediate its place in the arena; with `reuse`, places are taken again once their value is dead.
void place_buffers(Schedule& schedule, bool reuse);

/// Checks that values are written once and before they are read, that dims add up, and that buffers of values alive at
/// the same time do not overlap. Throws std::logic_error.
void verify(const Schedule& schedule);

}  // namespace plated::planner
