// The loops of a weighted sum: which indices are lanes, which are rows, and which surround them.
//
//   for each outer kept index        split into tasks
//     for each outer summed index    split into tasks where there are few kept ones
//       gather what depends on lanes alone, and on rows alone
//       form a block of rows × lanes of terms
//     fold and write sums, unless the terms went straight to the output
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/loop_nest.hpp"
#include "kernels/reduce_plan.hpp"
#include "kernels/weighted_sum.hpp"
#include "kernels/weighted_sum_kernels.hpp"

namespace plated::kernels {

/// What an input is to a block: read where it lies, gathered once for all rows, once for all lanes, or for every row.
enum class Part : std::uint8_t { direct, lanes, rows, full };

/// Loops around a block. A loop that is cut by the lanes is in `walk`, one that is cut by the rows is `pieces`.
struct OuterLoops {
  Walk walk;
  Walk pieces;
  [[nodiscard]] std::int64_t count() const { return walk.count * pieces.count; }
};

struct WeightedSumPlan {
  LoopNest nest;           // the output is its last input
  std::size_t inputs = 0;  // without the output
  double scale = 1;        // times the extents of summed loops that no input carries

  Block lanes;
  Block rows;
  std::int64_t last_lanes = 1;  // in the cut loop's last piece
  std::int64_t last_rows = 1;
  OuterLoops kept;
  OuterLoops sum;

  std::vector<Part> part;                   // [input]
  std::vector<std::vector<Run>> lane_runs;  // [input]; empty where runs are too short to pay
  std::vector<std::vector<Run>> row_runs;
  LogForm log = LogForm::none;
  WeightForm weight = WeightForm::rows;
  bool full_logs = false;     // some logarithm must be gathered for every row
  bool full_factors = false;  // some factor
  bool lane_logs = false;
  bool lane_factors = false;

  bool direct_output = false;  // terms are written where they belong, the scale included
  bool stream = false;
  std::int64_t pitch = 0;     // of the tile of sums
  std::int64_t sum_rows = 1;  // of that tile: kept rows
  std::int64_t last_sum_rows = 1;
  std::int64_t slots = 1;  // sums in one row of it, once folded
  std::int64_t last_slots = 1;
  std::vector<std::int64_t> row_to;          // [row]: where its terms go, from the tile's or the block's beginning
  std::vector<Run> fold;                     // lane → slot
  std::vector<std::int64_t> slot_output;     // [slot]
  bool slots_contiguous = false;             // in the output
  bool rows_contiguous = false;              // several of them, and no slots are
  std::vector<std::int64_t> sum_row_output;  // [sum row]
  std::int64_t steps_per_drain = 0;          // outer summed indices; 0: sums need no double

  std::int64_t kept_parts = 1;  // tasks = kept_parts × sum_parts
  std::int64_t sum_parts = 1;
};

/// `shape` has no empty loop.
[[nodiscard]] WeightedSumPlan plan_weighted_sum(const WeightedSumShape& shape);

}  // namespace plated::kernels
