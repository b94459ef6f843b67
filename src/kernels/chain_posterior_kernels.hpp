// The entry points of a chain's posteriors, compiled for every SIMD target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/chain_posterior.hpp"

namespace plated::kernels {

/// Slices whose statistics are added up in the messages' own type before they join the totals.
inline constexpr std::int64_t posterior_chunk = 128;

/// Elements between slices in a chunk: an odd number of cache lines, so that a column of the chunk spreads over the
/// cache's sets.
template <class T>
[[nodiscard]] constexpr std::int64_t posterior_pitch(std::int64_t width) {
  return width / ScanMatrix<T>::panel % 2 == 1 ? width : width + ScanMatrix<T>::panel;
}

template <class T>
[[nodiscard]] constexpr std::size_t chain_posterior_scratch_bytes(std::int64_t width) {
  // For each slice of a chunk its source and its target; and three vectors for strided terms and answers.
  return static_cast<std::size_t>(2 * posterior_chunk * posterior_pitch<T>(width) + 3 * width) * sizeof(T);
}

bool run_chain_posterior(const AnyScanMatrix& matrix, std::int64_t first, std::int64_t last, const PosteriorRun& run,
                         std::byte* scratch) noexcept;

}  // namespace plated::kernels
