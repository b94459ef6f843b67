// Tests whether all entries of a run of memory are within bounds, in every SIMD target.
#pragma once

#include <cstdint>

namespace plated::kernels {

/// False for NaN, whatever the bounds.
[[nodiscard]] bool all_within(const float* data, std::int64_t count, float low, float high) noexcept;
[[nodiscard]] bool all_within(const double* data, std::int64_t count, double low, double high) noexcept;

}  // namespace plated::kernels
