// Reads and writes numbers of a type that is known when a program runs: float32 or float64.
#pragma once

#include <cstdint>

#include "plated/tensor.hpp"

namespace plated::tensor {

/// Calls a generic function with a number of that type, which tells the type.
template <class Use>
decltype(auto) of_type(Dtype dtype, const Use& use) {
  return dtype == Dtype::float32 ? use(float{}) : use(double{});
}

[[nodiscard]] inline double number_at(Dtype dtype, const void* data, std::int64_t at) {
  return of_type(dtype, [&]<class T>(T) -> double { return static_cast<const T*>(data)[at]; });
}

inline void put_number(Dtype dtype, void* data, std::int64_t at, double value) {
  of_type(dtype, [&]<class T>(T) { static_cast<T*>(data)[at] = static_cast<T>(value); });
}

}  // namespace plated::tensor
