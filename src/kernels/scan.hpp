// Scans a chain with a tied transition: many fused steps of message × slice factors × matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/packed_matrix.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::kernels {

/// A vector over the states for each step and row, to read or to write. Strides are in elements.
template <class Data>
struct SliceVectors {
  Data* data = nullptr;  // null: there are none
  Dtype dtype = Dtype::float32;
  std::int64_t step_stride = 0;  // may be negative, or 0 where all steps have the same
  std::int64_t state_stride = 1;
  std::int64_t row_stride = 0;
  const std::int64_t* row_offset = nullptr;  // of each row, in place of the stride

  template <class T>
  [[nodiscard]] auto at(std::int64_t step, std::int64_t row) const {
    using Entry = std::conditional_t<std::is_const_v<Data>, const T, T>;
    return static_cast<Entry*>(data) + step * step_stride +
           (row_offset != nullptr ? row_offset[row] : row * row_stride);
  }
  /// The same with another step as the first.
  [[nodiscard]] SliceVectors from(std::int64_t step) const {
    using Byte = std::conditional_t<std::is_const_v<Data>, const std::byte, std::byte>;
    SliceVectors rest = *this;
    if (data == nullptr) return rest;
    rest.data = static_cast<Byte*>(data) + step * step_stride * static_cast<std::int64_t>(size_of(dtype));
    return rest;
  }
};
using SliceTerm = SliceVectors<const void>;
using SlicePlace = SliceVectors<void>;

/// Where the message after each step goes, if anywhere, and its offset, a single double.
struct ScanTrace {
  SlicePlace messages, offsets;
  // log only: exp(message) instead, whose largest entry is 1; 0 below the range of the type's normal numbers, and for
  // a message that is all zero. Takes no logarithms.
  bool linear = false;
};

/// Rows, or vectors of some rows of few states, that go through steps together; their largest entries; and steps that
/// are prepared at once, for so many states.
inline constexpr std::int64_t scan_vectors = 12, scan_most_tops = 64, scan_most_ahead = 16;
[[nodiscard]] constexpr std::int64_t scan_ahead(std::int64_t states) {
  return states <= 16 ? scan_most_ahead : states <= 64 ? 8 : states <= 256 ? 4 : 1;
}

struct ScanShape {
  Semiring semiring = Semiring::log;  // log, max_plus or min_plus
  Dtype dtype = Dtype::float32;       // of the matrix, the terms and the messages
  std::int64_t states = 0;            // at least 1
};

/// One run: what all its rows share. Pointers are at the run's first step and at row 0.
struct ScanRun {
  SliceTerm before, after;
  void* messages = nullptr;  // [rows, states], contiguous; read, then overwritten
  double* offset = nullptr;  // [rows], added to
  std::int64_t steps = 0;
  ScanTrace trace;
  // Step s of the run is slice first_step + s · direction of the chain. A row keeps its message through slices at or
  // beyond its length, and their terms are not read.
  const std::int64_t* lengths = nullptr;
  std::int64_t first_step = 0;
  std::int64_t direction = 1;

  [[nodiscard]] bool exists(std::int64_t step, std::int64_t row) const {
    return lengths == nullptr || lengths[row] > first_step + step * direction;
  }
};

/// `steps` times m[b] ← (⊕_a m[a] ⊗ before[a] ⊗ matrix[a, b]) ⊗ after[b], for independent rows.
///
///   const Scan scan({.semiring = Semiring::log, .dtype = Dtype::float32, .states = 16}, w, 16, 1);
///   scan.run(0, rows, {.after = {.data = emissions, .step_stride = 16, .row_offset = offsets}, …}, scratch);
///
/// A message is (messages[r], offset[r]): its entries times a scalar. Messages leave with 0 as their largest entry
/// (smallest in min_plus), what was taken out being added to the offset, in double. A message that is all zero of the
/// semiring is written as such, with the offset that the row came with.
///
/// A row's bits depend on the row alone, not on the rows it shares a call with.
class Scan {
 public:
  /// Packs matrix[a · row_stride + b · column_stride], once for all steps and rows. In the log semiring the matrix must
  /// outlive the scan: sums that exponentials would underflow are recomputed from it.
  /// It is packed into `memory` (packed_matrix_bytes), on a cache line's boundary, or into memory of its own.
  Scan(const ScanShape& shape, const void* matrix, std::int64_t row_stride, std::int64_t column_stride,
       std::byte* memory = nullptr);

  /// What a run needs, on a cache line's boundary.
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes(shape_); }
  [[nodiscard]] static std::size_t scratch_bytes(const ScanShape& shape);

  /// Runs rows first … last − 1. Distinct rows may run at the same time, each call with its own scratch.
  void run(std::int64_t first, std::int64_t last, const ScanRun& run, std::byte* scratch) const noexcept;

 private:
  ScanShape shape_;
  AnyPackedMatrix matrix_;
};

}  // namespace plated::kernels
