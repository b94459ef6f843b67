// The choice of lanes and rows of a weighted sum, by an estimate of their costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/loop_nest.hpp"
#include "kernels/weighted_sum.hpp"

namespace plated::kernels {

struct WeightedSumLayout {
  std::vector<std::size_t> lane_loops;  // innermost first
  std::vector<std::size_t> row_loops;
  std::int64_t lane_piece = 0;  // > 0: the last lane loop is cut into pieces of this extent
  std::int64_t row_piece = 0;
  std::int64_t lanes = 1;
  std::int64_t rows = 1;
  int direct = -1;             // the input that is read where it lies
  bool direct_output = false;  // nothing is summed, and the output's lanes are contiguous and of the arithmetic type
};

/// The cheapest layout. `nest` has the output as its last input and no summed loop that no input carries.
[[nodiscard]] WeightedSumLayout lay_out(const LoopNest& nest, const WeightedSumShape& shape);

/// All inputs, in the order that run_task takes them.
[[nodiscard]] std::vector<const WeightedSumShape::Input*> inputs_of(const WeightedSumShape& shape);

/// So many kept indices give tasks enough: sums in one piece are cheaper than partial ones, and long rows than short.
inline constexpr std::int64_t enough_tasks = 16;

/// Tasks that are worth having.
[[nodiscard]] std::int64_t wanted_tasks(const LoopNest& nest);

}  // namespace plated::kernels
