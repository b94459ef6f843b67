// The inner loops of weighted sums, chosen for an arithmetic type T and this machine's SIMD.
//
// A block is rows × lanes. Its terms' logarithms are an input that is read where it lies (`direct`), plus what depends
// on the lane alone, plus what depends on the row alone; their factors likewise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/reduce_kernels.hpp"
#include "plated/tensor.hpp"

namespace plated::kernels {

/// How the logarithm of a weight is put together.
enum class LogForm : std::uint8_t {
  none,    // there is none: `direct` is a factor
  lanes,   // direct + lane_high + lane_low
  rows,    // direct + row_high + row_low
  doubles  // direct + (lane_log + row_log), added in double
};
inline constexpr std::size_t log_forms = 4;

/// Which factors there are.
enum class WeightForm : std::uint8_t { none, rows, lanes, both };
inline constexpr std::size_t weight_forms = 4;

/// Arrays over lanes have room for padding_bytes past the last.
struct WeightBlock {
  std::int64_t rows = 0;
  std::int64_t lanes = 0;
  const void* direct = nullptr;  // T
  const std::int64_t* direct_offset = nullptr;
  const void* next = nullptr;  // the direct input of the next block, which is brought in meanwhile; never read
  const double* lane_log = nullptr;
  const double* row_log = nullptr;
  // The same as a float and what it lacks: with both, sums of large numbers are exact without doubles.
  const float* lane_high = nullptr;
  const float* lane_low = nullptr;
  const float* row_high = nullptr;
  const float* row_low = nullptr;
  const void* lane_weight = nullptr;  // T
  const void* row_weight = nullptr;   // T
  void* to = nullptr;                 // T
  const std::int64_t* to_offset = nullptr;
  bool padded = false;  // `to` may be read and written up to a vector past the last lane
  bool add = false;     // to what `to` holds
  bool stream = false;  // write past the caches
  bool surprisal = false;
};

/// Adds to logarithms, takes from them, or multiplies factors.
enum class Gather : std::uint8_t { add, subtract, multiply };

/// Sums of T, or of double.
struct SumTile {
  const void* sums = nullptr;
  bool doubles = false;
  std::int64_t pitch = 0;
  std::int64_t rows = 0;
  std::int64_t lanes = 0;
};

struct WeightedSumKernels {
  void (*weigh[log_forms][weight_forms])(const WeightBlock& block);
  /// Puts `count` elements of an input, at source.lane_offset or in its runs, into `to`.
  void (*gather)(double* to, std::int64_t count, const PackSource& source, Gather how);
  /// Halves of doubles: high + low = x to twice the precision; −inf is (−inf, 0).
  void (*split)(const double* x, std::int64_t count, float* high, float* low);
  void (*round)(const double* x, std::int64_t count, void* to);  // T
  /// to[i] += from[i]; from[i] = 0.
  void (*drain)(void* from, std::int64_t count, double* to);
  /// Adds the lanes of each row of a tile up into slots (a run's target, steps 0 and 1); the rows' slots follow each
  /// other.
  void (*fold)(const SumTile& tile, const Run* runs, std::size_t run_count, std::int64_t slots, double* slot);
};

[[nodiscard]] const WeightedSumKernels& weighted_sum_kernels(Dtype compute) noexcept;

}  // namespace plated::kernels
