// Lays out the arrays that a plan needs.
#include "kernels/weighted_sum_scratch.hpp"

#include <algorithm>
#include <utility>

#include "base/aligned_memory.hpp"
#include "kernels/weighted_sum_cursor.hpp"
#include "kernels/weighted_sum_kernels.hpp"

namespace plated::kernels {

WeightedSumScratch place_scratch(const WeightedSumPlan& plan, Dtype compute) {
  WeightedSumScratch arrays{};
  const auto lanes = static_cast<std::size_t>(plan.lanes.count);
  const auto rows = static_cast<std::size_t>(plan.rows.count);
  const std::size_t element = size_of(compute);
  std::size_t at = 0;
  const auto place = [&at](std::size_t count, std::size_t bytes) {
    return std::exchange(at, at + (count == 0 ? 0 : base::in_whole_lines(count * bytes + padding_bytes)));
  };
  const auto place_if = [&place](bool needed, std::size_t count, std::size_t bytes) {
    return place(needed ? count : 0, bytes);
  };
  const bool halves_of_lanes = plan.log == LogForm::lanes;
  const bool halves_of_rows = plan.log == LogForm::rows;
  const bool lane_weights = plan.weight == WeightForm::lanes || plan.weight == WeightForm::both;
  arrays.kept = place(OuterCursor::words(plan.kept, plan.inputs + 1), 8);
  arrays.sum = place(OuterCursor::words(plan.sum, plan.inputs + 1), 8);
  arrays.lane_log = place_if(plan.log == LogForm::doubles || halves_of_lanes, lanes, 8);
  arrays.lane_high = place_if(halves_of_lanes, lanes, 4);
  arrays.lane_low = place_if(halves_of_lanes, lanes, 4);
  arrays.row_log = place(rows, 8);
  arrays.row_high = place_if(halves_of_rows, rows, 4);
  arrays.row_low = place_if(halves_of_rows, rows, 4);
  arrays.lane_factor = place_if(lane_weights, lanes, 8);
  arrays.lane_weight = place_if(lane_weights, lanes, element);
  arrays.row_factor = place(rows, 8);
  arrays.row_weight = place(rows, element);
  arrays.full_log = place_if(plan.full_logs, lanes, 8);
  arrays.full_factor = place_if(plan.full_factors, lanes, 8);
  const bool has_direct = std::find(plan.part.begin(), plan.part.end(), Part::direct) != plan.part.end();
  arrays.blank = place_if(!has_direct, lanes, element);
  const auto tile = static_cast<std::size_t>(plan.pitch * plan.sum_rows);
  arrays.tile = place_if(!plan.direct_output, tile, element);
  arrays.totals = place_if(plan.steps_per_drain > 0, tile, 8);
  arrays.slots = place_if(!plan.direct_output, static_cast<std::size_t>(plan.slots * plan.sum_rows), 8);
  arrays.bytes = at;
  return arrays;
}

}  // namespace plated::kernels
