// The inner loops of the reduce strategy, chosen for a semiring, an arithmetic type and this machine's SIMD.
//
// Lanes are independent sums side by side in memory. Each has a state: `top`, and in the log semiring also `sum`, so
// that the lane's value is top + log(sum); in the others `top` is the value (and `sum` a plain sum in max_plus and
// min_plus, which keeps NaN). States are of type StateOf (below).
#pragma once

#include <cstddef>
#include <cstdint>

#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::kernels {

struct Ahead;

/// Consecutive indices whose targets advance by a constant step.
struct Run {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::int64_t target = 0;
  std::int64_t step = 0;
};

/// One input's part in a tile: element (row, lane) lies at base[row_offset[row] + lane_offset[lane]].
struct PackSource {
  const void* base = nullptr;
  const void* ahead = nullptr;  // where the next tile's elements are likely to lie, or null: never read
  Dtype dtype = Dtype::float64;
  const std::int64_t* row_offset = nullptr;
  const std::int64_t* lane_offset = nullptr;
  const Run* runs = nullptr;  // lane_offset as runs; null where they are too short to pay
  std::size_t run_count = 0;
};

struct ReduceKernels {
  /// Adds rows of lanes into the states; with `first`, starts them. `next` (or null) is where the next block begins.
  void (*absorb)(const void* base, const void* next, const std::int64_t* row_offset, std::int64_t rows,
                 std::int64_t lanes, void* top, void* sum, bool first);
  /// The same for a tile; meanwhile brings in what is ahead.
  void (*absorb_tile)(const void* tile, const Ahead& ahead, const std::int64_t* row_offset, std::int64_t rows,
                      std::int64_t lanes, void* top, void* sum, bool first);
  /// tile[row · pitch + lane] = the source's element, or with `multiply` is multiplied with it.
  void (*pack)(void* tile, std::int64_t pitch, std::int64_t rows, std::int64_t lanes, const PackSource& source,
               bool multiply);
  /// Adds up lanes of the same slot: states [0, lanes) become states [0, slots). Scratch: a state for each lane.
  void (*fold)(std::int64_t lanes, std::int64_t slots, const std::int64_t* slot, void* top, void* sum, void* scratch);
  /// The largest magnitude of a lane's top in the additive rings, 0 in the others; infinity where something other than
  /// numbers and the ring's zero has been added. Rings that lose NaN: 0. To be asked before lanes are folded.
  double (*magnitude)(std::int64_t lanes, const void* top, const void* sum);
  /// The lanes' values.
  void (*value)(std::int64_t lanes, const void* top, const void* sum, double* out);
  /// Multiplies lanes into accumulators (a run's target); settles after so many factors, 0: not at all.
  void (*accumulate)(std::int64_t lanes, const Run* runs, std::size_t run_count, const void* top, const void* sum,
                     double* product_top, double* product_sum, std::int64_t factors_per_settle);
  /// Makes product_top the accumulators' values, product_sum 1.
  void (*settle)(std::int64_t count, double* product_top, double* product_sum);
};

/// Bytes of one lane's `top` (and `sum`): real sums are kept in double, the other states in the arithmetic type.
[[nodiscard]] constexpr std::size_t state_bytes(Semiring semiring, Dtype compute) {
  return semiring == Semiring::real ? 8 : size_of(compute);
}

/// Arrays handed to the kernels must have room for this many bytes past their last lane.
inline constexpr std::size_t padding_bytes = 128;

[[nodiscard]] const ReduceKernels& reduce_kernels(Semiring semiring, Dtype compute) noexcept;

}  // namespace plated::kernels
