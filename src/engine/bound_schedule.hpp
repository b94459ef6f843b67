// A schedule bound to memory: each step's loops, strides and addresses, ready to run repeatedly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "kernels/contraction.hpp"
#include "kernels/leave_one_out.hpp"
#include "kernels/log_mass.hpp"
#include "kernels/weighted_sum.hpp"
#include "planner/schedule.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// Where a value lies: in an operand, in an output, or at an offset of the arena.
struct Place {
  planner::Value::Kind kind = planner::Value::Kind::intermediate;
  std::size_t index = 0;
  std::int64_t offset = 0;
};

/// Leave-one-out products: their independent parts, and the slices of each.
struct LeaveOneOut {
  kernels::LeaveOneOutShape shape;
  std::int64_t kept = 0;
  std::int64_t slices = 0;
};

struct BoundStep {
  std::vector<Place> inputs;
  Place output;
  std::variant<kernels::Contraction, LeaveOneOut, kernels::WeightedSum, kernels::LogMassShape> kernel;
  double flops = 0;
};

struct BoundSchedule {
  planner::Extents extents;
  std::vector<BoundStep> steps;
  /// Outputs that the steps do not write, or not everywhere: answers about operands that are not used, or that have
  /// diagonals. They are set to zero first.
  std::vector<std::size_t> cleared;
  std::int64_t arena_bytes = 0;
  std::size_t task_scratch_bytes = 0;  // for each worker
  std::size_t shared_scratch_bytes = 0;
  double flops = 0;
};

/// The element type of a run: the widest of the operands', float64 without any.
[[nodiscard]] Dtype element_dtype(std::span<const Tensor> operands);

/// Outputs and operands agree with the extents.
[[nodiscard]] BoundSchedule bind(const planner::Schedule& schedule, const planner::Extents& extents, Semiring semiring,
                                 std::span<const Tensor> outputs, std::span<const Tensor> operands);

}  // namespace plated::engine
