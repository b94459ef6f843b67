// Reads and writes numbers whose type a binding knows.
#pragma once

#include <cstdint>

#include "plated/tensor.hpp"

namespace plated::engine {

[[nodiscard]] inline double number_at(Dtype dtype, const void* data, std::int64_t at) {
  return dtype == Dtype::float32 ? static_cast<const float*>(data)[at] : static_cast<const double*>(data)[at];
}

inline void put_number(Dtype dtype, void* data, std::int64_t at, double value) {
  if (dtype == Dtype::float32) {
    static_cast<float*>(data)[at] = static_cast<float>(value);
  } else {
    static_cast<double*>(data)[at] = value;
  }
}

}  // namespace plated::engine
