// Exponentials of a run of numbers, in every SIMD target.
#pragma once

#include <cstdint>

#include "plated/tensor.hpp"

namespace plated::kernels {

/// Writes exp of `count` numbers.
void write_exponentials(Dtype dtype, const void* from, std::int64_t count, void* to) noexcept;

}  // namespace plated::kernels
