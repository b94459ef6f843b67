// The arguments of a matrix-product task, and the entry points compiled for every SIMD target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/gemm_tiling.hpp"

namespace plated::kernels {

struct GemmCall {
  const GemmLayout& layout;
  const GemmTiling& tiling;
  std::int64_t task;
  std::span<const void* const> inputs;
  void* output;
  std::byte* task_scratch;
  std::byte* shared_scratch;
};

/// Runs a task whose arithmetic is in float32, or in float64: apart, so that they compile side by side.
void run_gemm_float32(const GemmCall& call) noexcept;
void run_gemm_float64(const GemmCall& call) noexcept;

}  // namespace plated::kernels
