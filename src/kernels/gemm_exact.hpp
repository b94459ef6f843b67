// Computes one entry of a log-space matrix product exactly, for sums whose exponentials would underflow.
#pragma once

#include "kernels/gemm_layout.hpp"

namespace plated::kernels {

/// log Σ_k exp(a[k] + b[k]) in double; `row` and `column` point at the entries k = 0, of the layout's dtypes.
[[nodiscard]] double exact_log_sum(const GemmLayout& layout, const void* row, const void* column) noexcept;

}  // namespace plated::kernels
