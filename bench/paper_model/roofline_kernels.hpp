// The bare loops of the roofline runner, for this machine's SIMD.
#pragma once

#include <cstdint>

namespace bench {

/// Lanes that one call of log_sum_exps takes at most. Two states for each lane stay in the level-one cache beside what
/// is streamed, and rows are long enough for the hardware's prefetcher.
inline constexpr std::int64_t lanes_at_once = 1024;

/// Σ over lanes of logsumexp over rows; row r, lane l is data[r · stride + l]. Lanes are a multiple of 64, at most
/// lanes_at_once; at most 128 rows.
[[nodiscard]] double log_sum_exps(const float* data, std::int64_t stride, std::int64_t rows,
                                  std::int64_t lanes) noexcept;

/// The sum of `count` entries, a multiple of 64.
[[nodiscard]] double sum(const float* data, std::int64_t count) noexcept;

}  // namespace bench
