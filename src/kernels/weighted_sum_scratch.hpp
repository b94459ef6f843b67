// The arrays that a task of a weighted sum works in.
#pragma once

#include <cstddef>

#include "kernels/weighted_sum_plan.hpp"
#include "plated/tensor.hpp"

namespace plated::kernels {

/// Where each array of a task's scratch begins, in bytes.
struct WeightedSumScratch {
  std::size_t kept, sum;  // cursors
  std::size_t lane_log, lane_high, lane_low, row_log, row_high, row_low;
  std::size_t lane_factor, lane_weight, row_factor, row_weight;  // in double, and rounded to the arithmetic type
  std::size_t full_log, full_factor;                             // of one row
  std::size_t blank;                                             // stands for a direct input that is not there
  std::size_t tile, totals, slots;
  std::size_t bytes;
};

[[nodiscard]] WeightedSumScratch place_scratch(const WeightedSumPlan& plan, Dtype compute);

}  // namespace plated::kernels
