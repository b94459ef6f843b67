// Powers whose exponents are numbers of their own: a slice that stands for several, for a part of one, or for none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plated/semiring.hpp"

namespace plated::kernels {

/// out[k] = base[k] ^ (∏ exponents[k] − less), all float64. Strides of inputs may be 0. What is raised to 0 is the
/// semiring's one, whatever it is; zero raised to anything else is zero.
struct RaiseShape {
  Semiring semiring = Semiring::log;
  std::vector<std::int64_t> extent;                        // [loop]
  std::vector<std::int64_t> base_stride;                   // [loop]
  std::vector<std::vector<std::int64_t>> exponent_stride;  // [exponent][loop]
  std::vector<std::int64_t> output_stride;                 // [loop]
  int less = 0;

  [[nodiscard]] std::int64_t elements() const {
    std::int64_t product = 1;
    for (const std::int64_t e : extent) product *= e;
    return product;
  }
  bool operator==(const RaiseShape&) const = default;
};

/// Elements first … last − 1 of the output, each by itself. `inputs` are the base, then the exponents.
void raise(const RaiseShape& shape, std::span<const void* const> inputs, double* output, std::int64_t first,
           std::int64_t last) noexcept;

}  // namespace plated::kernels
