// Posteriors of a chain's states and of its tied transition, from messages of both directions in real space.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/scan.hpp"
#include "plated/tensor.hpp"

namespace plated::kernels {

/// Slices whose statistics are added up in the messages' own type before they join the totals.
inline constexpr std::int64_t posterior_chunk = 128;

/// Entries of messages are flushed to 0 below the normal range. If forward and backward messages overlap by at least
/// this, what was flushed had a posterior below 1e-17, and so had its pairs.
template <class T>
inline constexpr T least_overlap = sizeof(T) == 4 ? T(1e-20) : T(1e-250);

/// What is asked of a stretch of slices, slice t lying between the states t and t + 1.
struct PosteriorRun {
  // Messages at the states 0 … steps, as a linear ScanTrace writes them: the largest entry of each is 1, or all are 0.
  SliceTerm forward, backward;     // their states lie one after the other
  const double* weight = nullptr;  // of each row, not negative
  std::int64_t steps = 0;
  // Slice t of the stretch is slice first_step + t of the chain. Those at or beyond a row's length do not exist: their
  // answers are 0, and they count nothing.
  const std::int64_t* lengths = nullptr;
  std::int64_t first_step = 0;
  // weight · P(state t) and weight · P(state t + 1) for each slice t.
  SlicePlace before, after;
  // The slices' factors beside the matrix, on its source and on its target, in log; read for the statistics alone.
  SliceTerm source_term, target_term;
  double* totals = nullptr;  // [states, states], added to; null: no statistics

  /// Whether a slice of a row has anything to answer.
  [[nodiscard]] bool counts(std::int64_t slice, std::int64_t row) const {
    return weight[row] > 0 && (lengths == nullptr || lengths[row] > first_step + slice);
  }
};

/// Posteriors of states and of the transition, by products of what a forward and a backward scan have traced.
///
///   const ChainPosterior posterior(Dtype::float32, 16, w, 16, 1);
///   const bool safe = posterior.run(0, rows, {.forward = …, .backward = …, .totals = g.data()}, scratch);
///   if (safe) posterior.finish(g.data(), pairs.data());
///
/// The answers for a row depend on the row alone. Totals depend on which rows share a call, in the last bits.
class ChainPosterior {
 public:
  /// Takes matrix[a · row_stride + b · column_stride], in log; null where no statistics will be asked for. It must
  /// outlive the posterior. It is packed into `memory`, on a cache line's boundary, or into memory of its own.
  ChainPosterior(Dtype dtype, std::int64_t states, const void* matrix, std::int64_t row_stride,
                 std::int64_t column_stride, std::byte* memory = nullptr);

  /// What a run needs, on a cache line's boundary.
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes(dtype_, states_); }
  [[nodiscard]] static std::size_t scratch_bytes(Dtype dtype, std::int64_t states);

  /// Answers rows first … last − 1. False, with answers and totals undefined, if real space does not hold the messages
  /// of a slice that exists in a row of positive weight: where forward and backward messages hardly overlap, mass may
  /// have been lost to underflow; or if the work is to be given up.
  [[nodiscard]] bool run(std::int64_t first, std::int64_t last, const PosteriorRun& run,
                         std::byte* scratch) const noexcept;

  /// statistics[a · states + b] ← Σ weight · P(source is a, target is b), from the totals of all runs. May be in place.
  void finish(const double* totals, double* statistics) const noexcept;

 private:
  Dtype dtype_;
  std::int64_t states_;
  AnyPackedMatrix matrix_;
};

}  // namespace plated::kernels
