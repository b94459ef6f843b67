// Walks a schedule backwards and fixes variables: the best states, or exact joint samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/run.hpp"
#include "planner/schedule.hpp"
#include "plated/integers.hpp"

namespace plated::adjoint {

/// How a step's summed variables are chosen given the variables it keeps.
struct Choice {
  bool draw = false;  ///< false: the best, lowest tuple first; true: in proportion to the weights
  std::int64_t count = 1;
  std::uint64_t seed = 0;
  std::int64_t first = 0;
  std::size_t total = 0;  ///< the output of the schedule that is traced back
};

/// For each variable of the schedule's problem, by DimId, its assignment with axes: samples (only if `draw`), batch
/// dims, plates in declaration order. `assignment[v]` has been shaped by the caller; entries of variables that the
/// planner dropped (one state) are set to 0, and nothing is written for variables of empty plates.
///
/// The workspace must hold the run of `schedule` with these operands, in a selective semiring (max_plus, max_product,
/// min_plus) or, to draw, in the log semiring; the schedule must keep every intermediate (no reused buffers), and its
/// output that the choice names must be the total: one number for each batch, which is not the semiring's zero.
void backtrace(const planner::Schedule& schedule, Semiring semiring, std::span<const Tensor> operands,
               const engine::Workspace& workspace, const Choice& choice, int threads,
               std::vector<Integers>& assignment);

}  // namespace plated::adjoint
