// Splits a schedule into phases for a run that stores only some blocks of a dim at a time.
//
//   steps without the dim ─▶ loop over its blocks ─▶ steps without it ─▶ loop ─▶ …
//
// A loop ends where its blocks have been multiplied or added up; what depends on the total comes in a later phase. A
// value that has the dim lives for some blocks only: a later loop that reads it computes it again, unless it is stored
// for all blocks.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/blocking.hpp"
#include "planner/schedule.hpp"

namespace plated::engine {

struct Phase {
  bool loops = false;
  std::vector<std::size_t> steps;  // of the schedule; a step may be in several loops
};

/// The phases of all steps, given what each does along the dim and which intermediates are stored for all blocks.
[[nodiscard]] std::vector<Phase> phases_of(const planner::Schedule& schedule, const std::vector<Along>& along,
                                           const std::vector<bool>& stored);

/// Whether each value is complete before it is first read, so that a step gives the same whenever it is repeated.
[[nodiscard]] bool can_repeat_steps(const planner::Schedule& schedule);

/// Values whose storing would save work: those that several loops compute, in the order of their steps.
[[nodiscard]] std::vector<planner::ValueId> worth_storing(const planner::Schedule& schedule,
                                                          const std::vector<Along>& along,
                                                          const std::vector<bool>& stored);

}  // namespace plated::engine
