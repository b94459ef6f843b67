// Prices a schedule at given sizes.
#pragma once

#include "planner/schedule.hpp"
#include "plated/cost.hpp"
#include "plated/semiring.hpp"

namespace plated::planner {

/// Semiring operations of one step; with `one_slice`, as if every plate and batch dim had size 1.
[[nodiscard]] double step_flops(const Schedule& schedule, const Extents& extents, const Step& step,
                                bool one_slice = false);

/// The cost of a run on operands of `element_bytes` (4 or 8).
[[nodiscard]] Cost schedule_cost(const Schedule& schedule, const Extents& extents, Semiring semiring,
                                 int element_bytes);

}  // namespace plated::planner
