// Posteriors of a chain's states and of its tied transition, on the way back along a scan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/scan.hpp"
#include "plated/tensor.hpp"

namespace plated::kernels {

/// Slices of rows whose statistics are added up in the messages' own type before they join the totals.
inline constexpr std::int64_t posterior_chunk = 64;

/// What posteriors are of: rows of a scan in the log semiring.
struct PosteriorShape {
  Dtype dtype = Dtype::float32;  // of the matrix, the terms and the messages
  std::int64_t states = 0;
  std::int64_t rows = 0;

  /// Rows of few states lie in one vector, at a distance that is a power of two: `together` of them have `slots`
  /// entries.
  [[nodiscard]] std::int64_t pitch() const;
  [[nodiscard]] std::int64_t together() const;
  [[nodiscard]] std::int64_t slots() const { return together() == 1 ? states : together() * pitch(); }
  /// Rows that go back side by side.
  [[nodiscard]] std::int64_t rows_at_once() const { return together() * (slots() <= 64 ? 4 : 8); }
  /// Sums that are the posterior of the transition.
  [[nodiscard]] std::int64_t totals() const { return slots() * slots(); }
};

/// Where masses go: of the states before each step, or of those after it.
struct PosteriorPlace {
  SlicePlace to;
  bool before = false;
};

struct PosteriorRun {
  ScanRun there;  // the scan's steps: its `before`, how many, and which exist; nothing else of it is read
  // Before each step. In real space, as a linear ScanTrace writes them, or in log.
  SliceTerm messages;
  bool linear = true;
  // [rows, states]: the masses of the states after the last step, not negative, and those before the first.
  const double* mass = nullptr;
  double* first_mass = nullptr;
  std::span<const PosteriorPlace> places;  // slices that do not exist get 0
  double* totals = nullptr;                // added to; null: none are asked for
};

/// Goes back along a scan, from the masses of the last states to those of the first.
///
///   const ChainPosterior posterior({Dtype::float32, 16, rows}, w, 16, 1, memory);
///   const bool safe = posterior.run(0, rows, {.there = …, .messages = …, .totals = sums.data()}, scratch);
///   if (safe) posterior.add_pairs(sums.data(), pairs.data(), 16, 1);
///
/// The answers for a row depend on the row alone. Totals depend on which rows share a call, in the last bits.
class ChainPosterior {
 public:
  /// Takes matrix[a · row_stride + b · column_stride], in log, into so much memory, on a cache line's boundary.
  ChainPosterior(const PosteriorShape& shape, const void* matrix, std::int64_t row_stride, std::int64_t column_stride,
                 std::byte* memory);
  [[nodiscard]] static std::size_t memory_bytes(const PosteriorShape& shape);

  /// What a run needs, on a cache line's boundary.
  [[nodiscard]] static std::size_t scratch_bytes(const PosteriorShape& shape);

  /// Answers rows first … last − 1, from a multiple of rows_at_once() on. False, with answers and totals undefined, if
  /// a mass is not a number from 0 on, if real space does not hold the messages (what was flushed to 0 might have had a
  /// mass), or if the work is to be given up.
  [[nodiscard]] bool run(std::int64_t first, std::int64_t last, const PosteriorRun& run,
                         std::byte* scratch) const noexcept;

  /// pairs[a · row_stride + b · column_stride] += Σ mass of a before a step and b after it, from the totals of all
  /// runs.
  void add_pairs(const double* totals, double* pairs, std::int64_t row_stride,
                 std::int64_t column_stride) const noexcept;

 private:
  PosteriorShape shape_;
  AnyPackedMatrix block_, matrix_, turned_;  // of one row, of those in a vector, and for the way back
};

}  // namespace plated::kernels
