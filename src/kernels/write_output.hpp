// Writes final results, held in double, to an output of either type.
#pragma once

#include <cstdint>

#include "plated/semiring.hpp"
#include "plated/tensor.hpp"
#include "semiring/dispatch.hpp"

namespace plated::kernels {

/// output[base + offset[i]] = values[i]^power; without offsets the results are contiguous.
inline void write_output(Semiring which, std::int64_t power, double* values, std::int64_t count, void* output,
                         Dtype dtype, std::int64_t base, const std::int64_t* offset) noexcept {
  if (power != 1) {
    semiring::dispatch(which, [=](auto ring) {
      for (std::int64_t i = 0; i < count; ++i) values[i] = ring.power(values[i], power);
    });
  }
  const auto store = [=](auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    if (offset == nullptr) {
      for (std::int64_t i = 0; i < count; ++i) out[base + i] = static_cast<T>(values[i]);
    } else {
      for (std::int64_t i = 0; i < count; ++i) out[base + offset[i]] = static_cast<T>(values[i]);
    }
  };
  if (dtype == Dtype::float32) {
    store(static_cast<float*>(output));
  } else {
    store(static_cast<double*>(output));
  }
}

}  // namespace plated::kernels
