// Splits a schedule into phases for a run that stores only some blocks of a dim at a time.
//
//   steps without the dim ─▶ loop over its blocks ─▶ steps without it ─▶ loop ─▶ …
//
// A loop ends where its blocks have been multiplied or added up, or where messages have gone through all of them; what
// depends on the total comes in a later phase. A value that has the dim lives for some blocks only: a later loop that
// reads it computes it again, unless it is stored for all blocks. Messages are computed again from a checkpoint before
// each block, so that only the loop of the scan itself goes in its direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/blocking.hpp"
#include "planner/schedule.hpp"

namespace plated::engine {

/// A step of the schedule, which may be in several loops: after the first, scans run blocks `again` from checkpoints.
struct PhaseStep {
  std::uint32_t step = 0;  // there may be very many
  bool again = false;
};

struct Phase {
  bool loops = false;
  bool descends = false;  // from the last block to the first
  /// Not of the run, but after it: computes again what is read block by block.
  bool recalls = false;
  std::vector<PhaseStep> steps;
};

/// What is to be arranged: the steps from `first` on, and what each of all steps does along the dim. Values of steps
/// before that are there already.
struct ToArrange {
  const planner::Schedule& schedule;
  DimId dim = 0;  // in whose blocks steps are bound
  std::size_t first = 0;
  std::vector<Along> along;    // [step]
  std::vector<bool> recalled;  // [value]: is read after the run, block by block; may be empty
  std::vector<bool> unread;    // [step]: nobody reads what it writes, and it is left out; may be empty

  [[nodiscard]] bool is_unread(std::size_t step) const { return !unread.empty() && unread[step]; }
};

/// For each step, whether the loop that it is in goes from the last block to the first.
[[nodiscard]] std::vector<bool> descending_steps(const ToArrange& work);

/// The phases of all steps, given which intermediates are stored for all blocks. Where values are recalled, the last
/// phase does so.
[[nodiscard]] std::vector<Phase> phases_of(const ToArrange& work, const std::vector<bool>& stored);

/// Whether each value is complete before it is first read, so that a step gives the same whenever it is repeated.
[[nodiscard]] bool can_repeat_steps(const ToArrange& work);

/// Values whose storing would save work: those that several loops compute, in the order of their steps.
[[nodiscard]] std::vector<planner::ValueId> worth_storing(const ToArrange& work, const std::vector<bool>& stored);

}  // namespace plated::engine
