// The order in which a backtrace visits steps: once, or block by block of a dim.
#pragma once

#include <cstddef>
#include <vector>

#include "adjoint/backtrace_step.hpp"

namespace plated::adjoint {

/// Steps that choose, each after those that it depends on.
struct ChoicePhase {
  bool in_blocks = false;
  bool descends = false;  // from the last block to the first
  std::vector<std::size_t> steps;
};

/// Phases of all steps that an output is computed from and that sum something, and of scans. What is inside of a plate
/// or chain is chosen in blocks of it, after what is outside; the states where messages along a chain begin are known
/// when all of its slices have been visited.
[[nodiscard]] std::vector<ChoicePhase> choice_phases(const ChoiceScope& scope, const std::vector<bool>& needed,
                                                     const engine::BoundSchedule& bound);

}  // namespace plated::adjoint
