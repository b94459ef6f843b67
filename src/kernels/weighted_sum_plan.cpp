// Builds the tables and walks of a weighted sum from the chosen layout.
#include "kernels/weighted_sum_plan.hpp"

#include <algorithm>
#include <utility>

#include "kernels/block_tables.hpp"
#include "kernels/weighted_sum_layout.hpp"

namespace plated::kernels {
namespace {

// Terms that a sum in the element type may take before it goes into a double.
constexpr std::int64_t terms_per_drain = 256;
// Outputs that do not stay in a cache until they are read. Smaller ones are written faster into it.
constexpr double stream_bytes = 8 << 20;

LoopNest nest_of(const WeightedSumShape& shape) {
  ContractionShape loops;
  loops.extent = shape.extent;
  for (const bool summed : shape.summed) loops.role.push_back(summed ? Role::sum : Role::kept);
  for (const auto* input : inputs_of(shape)) loops.input_stride.push_back(input->stride);
  // The output as one more input: where it is the largest, its memory order rules.
  loops.input_stride.push_back(shape.output_stride);
  loops.output_stride = shape.output_stride;
  return normalise(loops);
}

/// A sum of equal slices is a multiple.
void fold_into_scale(WeightedSumPlan& plan) {
  std::erase_if(plan.nest.loops, [&plan](const Loop& loop) {
    const bool carried =
        std::any_of(loop.input.begin(), loop.input.end(), [](std::int64_t stride) { return stride != 0; });
    if (loop.role != Role::sum || carried) return false;
    plan.scale *= static_cast<double>(loop.extent);
    plan.nest.sum /= loop.extent;
    return true;
  });
}

std::vector<Loop> block_loops(const LoopNest& nest, const std::vector<std::size_t>& chosen, std::int64_t piece) {
  std::vector<Loop> loops;
  for (const std::size_t l : chosen) loops.push_back(nest.loops[l]);
  if (piece > 0) loops.back().extent = piece;
  return loops;
}

/// The loop that counts pieces of one that is cut.
Loop pieces_of(Loop loop, std::int64_t piece) {
  loop.extent = (loop.extent + piece - 1) / piece;
  for (auto& stride : loop.input) stride *= piece;
  loop.output *= piece;
  return loop;
}

std::int64_t last_of(const LoopNest& nest, const std::vector<std::size_t>& chosen, std::int64_t piece,
                     std::int64_t count) {
  if (piece == 0) return count;
  const std::int64_t extent = nest.loops[chosen.back()].extent;
  return count / piece * (extent - (extent - 1) / piece * piece);
}

void lay_outer(WeightedSumPlan& plan, const WeightedSumLayout& layout) {
  const auto holds = [](const std::vector<std::size_t>& loops, std::size_t l) {
    return std::find(loops.begin(), loops.end(), l) != loops.end();
  };
  const auto& loops = plan.nest.loops;
  for (std::size_t l = loops.size(); l-- > 0;) {
    OuterLoops& outer = loops[l].role == Role::kept ? plan.kept : plan.sum;
    if (holds(layout.lane_loops, l)) {
      const bool cut = layout.lane_piece > 0 && l == layout.lane_loops.back();
      if (cut) outer.walk.add(pieces_of(loops[l], layout.lane_piece), true);
    } else if (holds(layout.row_loops, l)) {
      const bool cut = layout.row_piece > 0 && l == layout.row_loops.back();
      if (cut) outer.pieces.add(pieces_of(loops[l], layout.row_piece), true);
    } else {
      outer.walk.add(loops[l], false);
    }
  }
  plan.last_lanes = last_of(plan.nest, layout.lane_loops, layout.lane_piece, plan.lanes.count);
  plan.last_rows = last_of(plan.nest, layout.row_loops, layout.row_piece, plan.rows.count);
}

std::vector<Run> paying_runs(const std::vector<std::int64_t>& table) {
  std::vector<Run> runs = runs_of(table);
  if (runs.size() * 2 > table.size() && table.size() > 1) runs.clear();
  return runs;
}

void assign_parts(WeightedSumPlan& plan, const WeightedSumLayout& layout, const WeightedSumShape& shape) {
  const std::size_t logs = shape.added.size() + shape.subtracted.size();
  const auto varies = [](const std::vector<std::int64_t>& table) {
    return std::any_of(table.begin(), table.end(), [](std::int64_t offset) { return offset != 0; });
  };
  std::vector<std::size_t> constant;
  bool row_logs = false;
  bool row_factors = false;
  plan.part.assign(plan.inputs, Part::rows);
  for (std::size_t i = 0; i < plan.inputs; ++i) {
    plan.lane_runs.push_back(paying_runs(plan.lanes.offset[i]));
    plan.row_runs.push_back(paying_runs(plan.rows.offset[i]));
    const bool by_lane = varies(plan.lanes.offset[i]);
    const bool by_row = varies(plan.rows.offset[i]);
    if (static_cast<int>(i) == layout.direct) {
      plan.part[i] = Part::direct;
    } else if (by_lane && by_row) {
      plan.part[i] = Part::full;
      (i < logs ? plan.full_logs : plan.full_factors) = true;
    } else if (by_lane) {
      plan.part[i] = Part::lanes;
      (i < logs ? plan.lane_logs : plan.lane_factors) = true;
    } else if (by_row) {
      (i < logs ? row_logs : row_factors) = true;
    } else {
      constant.push_back(i);
    }
  }
  // What is the same in the whole block joins what is there.
  for (const std::size_t i : constant) {
    const bool has_lanes = i < logs ? plan.lane_logs : plan.lane_factors;
    const bool has_rows = i < logs ? row_logs : row_factors;
    if (has_lanes && !has_rows) {
      plan.part[i] = Part::lanes;
    } else {
      (i < logs ? row_logs : row_factors) = true;
    }
  }
  if (logs > 0) {
    // Halves pay where they are used again.
    const bool by_lane = plan.lane_logs || plan.full_logs;
    plan.log = !by_lane ? LogForm::rows
               : row_logs || plan.full_logs || plan.rows.count < 3 || shape.compute_dtype == Dtype::float64
                   ? LogForm::doubles
                   : LogForm::lanes;
    if (shape.compute_dtype == Dtype::float64) plan.log = LogForm::doubles;
  }
  const bool lane_weights = plan.lane_factors || plan.full_factors;
  const bool row_weights = row_factors || (!lane_weights && plan.scale != 1);
  plan.weight = lane_weights && row_weights ? WeightForm::both
                : lane_weights              ? WeightForm::lanes
                : row_weights               ? WeightForm::rows
                                            : WeightForm::none;
}

/// Offsets in the output, or in the tile of sums, of a block's kept indices.
std::vector<std::int64_t> kept_offsets(const std::vector<Loop>& loops) {
  std::vector<std::int64_t> table = {0};
  for (const Loop& loop : loops) {
    if (loop.role != Role::kept) continue;
    const std::size_t inside = table.size();
    for (std::int64_t k = 1; k < loop.extent; ++k) {
      for (std::size_t j = 0; j < inside; ++j) table.push_back(table[j] + k * loop.output);
    }
  }
  return table;
}

void lay_sums(WeightedSumPlan& plan, const WeightedSumLayout& layout, const WeightedSumShape& shape) {
  const std::vector<Loop> lane_loops = block_loops(plan.nest, layout.lane_loops, layout.lane_piece);
  const std::vector<Loop> row_loops = block_loops(plan.nest, layout.row_loops, layout.row_piece);
  plan.direct_output = layout.direct_output;
  if (plan.direct_output) {
    plan.row_to = plan.rows.offset[plan.inputs];
    const double bytes = static_cast<double>(plan.nest.kept) * static_cast<double>(size_of(shape.output_dtype));
    plan.stream = !shape.accumulate && bytes * static_cast<double>(shape.blocks) > stream_bytes;
    return;
  }
  plan.pitch = (plan.lanes.count + 15) / 16 * 16;
  plan.slot_output = kept_offsets(lane_loops);
  plan.sum_row_output = kept_offsets(row_loops);
  plan.slots = static_cast<std::int64_t>(plan.slot_output.size());
  plan.sum_rows = static_cast<std::int64_t>(plan.sum_row_output.size());
  plan.slots_contiguous = true;
  for (std::size_t k = 0; k < plan.slot_output.size(); ++k) {
    plan.slots_contiguous = plan.slots_contiguous && plan.slot_output[k] == static_cast<std::int64_t>(k);
  }
  plan.rows_contiguous = !plan.slots_contiguous && plan.sum_rows > 1;
  for (std::size_t k = 0; k < plan.sum_row_output.size(); ++k) {
    plan.rows_contiguous = plan.rows_contiguous && plan.sum_row_output[k] == static_cast<std::int64_t>(k);
  }
  const bool cut_slots = layout.lane_piece > 0 && lane_loops.back().role == Role::kept;
  const bool cut_rows = layout.row_piece > 0 && row_loops.back().role == Role::kept;
  plan.last_slots = cut_slots
                        ? plan.slots / layout.lane_piece * (plan.last_lanes / (plan.lanes.count / layout.lane_piece))
                        : plan.slots;
  plan.last_sum_rows = cut_rows
                           ? plan.sum_rows / layout.row_piece * (plan.last_rows / (plan.rows.count / layout.row_piece))
                           : plan.sum_rows;
  plan.row_to = project(row_loops, true, false);
  for (auto& offset : plan.row_to) offset *= plan.pitch;
  plan.fold = unit_runs_of(project(lane_loops, true, false));
  const std::int64_t terms = plan.rows.count / plan.sum_rows;
  if (shape.compute_dtype == Dtype::float32 && terms * plan.sum.count() > terms_per_drain) {
    plan.steps_per_drain = std::max<std::int64_t>(1, terms_per_drain / terms);
  }
}

}  // namespace

WeightedSumPlan plan_weighted_sum(const WeightedSumShape& shape) {
  WeightedSumPlan plan;
  plan.nest = nest_of(shape);
  plan.inputs = plan.nest.base.size() - 1;
  plan.scale = shape.scale;
  fold_into_scale(plan);
  const WeightedSumLayout layout = lay_out(plan.nest, shape);
  plan.lanes = tabulate(block_loops(plan.nest, layout.lane_loops, layout.lane_piece), plan.inputs + 1);
  plan.rows = tabulate(block_loops(plan.nest, layout.row_loops, layout.row_piece), plan.inputs + 1);
  lay_outer(plan, layout);
  assign_parts(plan, layout, shape);
  lay_sums(plan, layout, shape);
  const std::int64_t wanted = wanted_tasks(plan.nest);
  plan.kept_parts = std::min(plan.kept.count(), wanted);
  if (!plan.direct_output && plan.kept_parts < enough_tasks) {
    plan.sum_parts = std::min(plan.sum.count(), wanted / plan.kept_parts);
  }
  return plan;
}

}  // namespace plated::kernels
