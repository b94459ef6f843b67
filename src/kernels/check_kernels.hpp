// Whether all entries of a run of memory lie within bounds, and how large they are, in every SIMD target.
#pragma once

#include <cstdint>

namespace plated::kernels {

/// False for NaN, whatever the bounds.
[[nodiscard]] bool all_within(const float* data, std::int64_t count, float low, float high) noexcept;
[[nodiscard]] bool all_within(const double* data, std::int64_t count, double low, double high) noexcept;

/// The same. Raises `magnitude` to the largest absolute value that is finite; where the
/// answer is false, it may lack some.
[[nodiscard]] bool all_within(const float* data, std::int64_t count, float low, float high, float& magnitude) noexcept;
[[nodiscard]] bool all_within(const double* data, std::int64_t count, double low, double high,
                              double& magnitude) noexcept;

}  // namespace plated::kernels
