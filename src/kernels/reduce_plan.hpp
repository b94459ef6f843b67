// The loops of the reduce strategy: which indices are lanes, which are rows, and which surround them.
//
//   for each outer kept index          split into tasks
//     for each outer product index     split into tasks where there are few kept ones
//       for each pass, outer sum index
//         absorb a block of rows × lanes
//       fold lanes of one sum, multiply lanes into accumulators
//     write accumulators
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/loop_nest.hpp"
#include "kernels/reduce_kernels.hpp"

namespace plated::kernels {

/// A block of indices small enough to tabulate: the offsets of each, innermost loop fastest.
struct Block {
  std::int64_t count = 1;
  std::vector<std::vector<std::int64_t>> offset;  // [input][index]
};

/// Loops around the blocks, outermost first. At most one of them counts pieces of a loop that is cut by a block.
struct Walk {
  std::vector<Loop> loops;
  std::int64_t count = 1;
  int cut = -1;  // index in `loops` of the cut loop; its last piece is smaller

  void add(Loop loop, bool is_cut);
};

/// Some of the rows of a sum, all with the same lanes.
struct Pass {
  std::vector<std::int64_t> base;  // [input]
  Walk walk;
  Block rows;
  std::int64_t last_rows = 0;  // in the cut loop's last piece
  std::int64_t lanes = 0;
};

struct ReducePlan {
  LoopNest nest;
  Block lanes;
  std::int64_t last_lanes = 0;              // where a kept or product loop is cut: lanes in its last piece
  bool direct = false;                      // one input whose lanes are contiguous: absorbed where it lies
  std::vector<std::vector<Run>> lane_runs;  // [input]; empty where runs are too short
  std::int64_t tile_rows = 8;
  std::int64_t pitch = 0;  // of tiles, in elements
  std::vector<std::int64_t> tile_row_offset;
  std::vector<std::int64_t> ahead_lines;  // offsets in a block of the primary, in bytes: worth a prefetch

  bool folds = false;                   // some lanes belong to one sum
  std::int64_t slots = 1;               // lanes after folding
  std::vector<std::int64_t> fold_slot;  // [lane]
  bool multiplies = false;              // some product loop is left
  std::vector<Run> product_runs;        // slot → accumulator
  std::int64_t factors = 1;             // that one visit brings to an accumulator
  std::int64_t accumulators = 1;
  std::int64_t last_accumulators = 1;
  std::vector<std::int64_t> output_offset;  // [accumulator]
  bool output_contiguous = false;

  Walk kept;
  Walk product;
  std::vector<Pass> passes;

  std::int64_t kept_parts = 1;  // tasks = kept_parts × product_parts × sum_parts
  std::int64_t product_parts = 1;
  std::int64_t sum_parts = 1;
};

/// `nest` has no empty loop and at least one input.
[[nodiscard]] ReducePlan plan_reduce(const ContractionShape& shape, LoopNest nest);

}  // namespace plated::kernels
