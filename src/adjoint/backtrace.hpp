// Walks a schedule backwards and fixes variables: the best states, or exact joint samples.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

/// Memory that a backtrace takes besides the assignments: states that are read again, and workers.
[[nodiscard]] std::int64_t backtrace_bytes(const planner::Schedule& schedule, const planner::Extents& extents,
                                           const Choice& choice, int threads);

/// For each variable of the schedule's problem, by DimId, its assignment with axes: samples (only if `draw`), batch
/// dims, plates, chains, each in declaration order. `assignment[v]` has been shaped by the caller; entries of variables
/// that the planner dropped (one state) are set to 0, and nothing is written for variables of empty plates.
///
/// The workspace must hold the run of `schedule` with these operands, in a selective semiring (max_plus, max_product,
/// min_plus) or, to draw, in the log semiring. Every intermediate must have been kept (no reused buffers), or the run
/// recalls them: `recall` then computes those of blocks first … last − 1. The output that the choice names must be the
/// total: one number for each batch, which is not the semiring's zero.
using RecallBlocks = std::function<void(std::int64_t first, std::int64_t last)>;

/// A backtrace that can be run again after another run in the same workspace on the same memory: it then allocates
/// nothing, unless the run recalls. It refers to all that it is made of; seed and first sample of the choice may change
/// in between. What it keeps for that is more than backtrace_bytes().
class Backtrace {
 public:
  Backtrace(const planner::Schedule& schedule, Semiring semiring, std::span<const Tensor> operands,
            const engine::Workspace& workspace, const Choice& choice, int threads, std::vector<Integers>& assignment);
  ~Backtrace();
  void run(const RecallBlocks& recall = {});

 private:
  friend void backtrace(const planner::Schedule& schedule, Semiring semiring, std::span<const Tensor> operands,
                        const engine::Workspace& workspace, const Choice& choice, int threads,
                        std::vector<Integers>& assignment, const RecallBlocks& recall);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The same once, with no more memory than backtrace_bytes().
void backtrace(const planner::Schedule& schedule, Semiring semiring, std::span<const Tensor> operands,
               const engine::Workspace& workspace, const Choice& choice, int threads, std::vector<Integers>& assignment,
               const RecallBlocks& recall = {});

}  // namespace plated::adjoint
