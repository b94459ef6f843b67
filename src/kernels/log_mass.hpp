// The logarithm of mass ÷ sum, which the reverse sweep passes to a matrix product in log space.
#pragma once

#include <cstdint>
#include <vector>

#include "plated/tensor.hpp"

namespace plated::kernels {

/// out[k] = log(mass[k]) − normaliser[k], and −inf where the mass is 0. Masses are float64 and not negative; strides
/// of inputs may be 0.
struct LogMassShape {
  std::vector<std::int64_t> extent;             // [loop]
  std::vector<std::int64_t> mass_stride;        // [loop]
  std::vector<std::int64_t> normaliser_stride;  // [loop]
  std::vector<std::int64_t> output_stride;      // [loop]
  Dtype normaliser_dtype = Dtype::float64;
  Dtype output_dtype = Dtype::float64;

  [[nodiscard]] std::int64_t elements() const {
    std::int64_t product = 1;
    for (const std::int64_t e : extent) product *= e;
    return product;
  }
  bool operator==(const LogMassShape&) const = default;
};

/// The same elements in fewer loops, whose innermost is a long one: its entries are computed a vector at a time. Loops
/// of one are left out, and neighbours that continue each other are joined.
[[nodiscard]] LogMassShape in_long_rows(const LogMassShape& shape);

/// Elements first … last − 1 of the output, each by itself. Without a normaliser, nothing is subtracted.
void log_mass(const LogMassShape& shape, const double* mass, const void* normaliser, void* output, std::int64_t first,
              std::int64_t last) noexcept;

}  // namespace plated::kernels
