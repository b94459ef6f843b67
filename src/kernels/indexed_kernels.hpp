// The inner loops of gathers and scatters, in every SIMD target.
#pragma once

#include <cstdint>
#include <limits>

#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::kernels {

/// The offset of an entry that is not observed.
inline constexpr std::int64_t not_observed = std::numeric_limits<std::int64_t>::min();

/// The states of a run of entries. A negative one is not observed.
struct StatesOfRun {
  const void* states = nullptr;
  Dtype dtype = Dtype::int64;
  std::int64_t first = 0;
  std::int64_t stride = 1;
  std::int64_t step = 0;  // from one state to the next in the array that has states
};

/// Adds step · state to each of `count`.
void add_to_offsets(const StatesOfRun& run, std::int64_t count, std::int64_t* offsets) noexcept;

/// Whether multiply_rows knows a semiring.
[[nodiscard]] constexpr bool multiplies_rows(Semiring semiring) { return semiring != Semiring::boolean; }

/// Multiplies the rows of observed entries into `product`, one after the other: table[offset + c], c < width. False
/// where a result is not a number, which may be because an infinity met the semiring's zero: it is to be done again.
[[nodiscard]] bool multiply_rows(Semiring semiring, const std::int64_t* offsets, std::int64_t count,
                                 const double* table, std::int64_t width, double* product) noexcept;

/// Adds to the rows of observed entries, one after the other: out[offset + c] += mass[entry · along + c], c < width.
void add_rows(const std::int64_t* offsets, std::int64_t count, const double* mass, std::int64_t along,
              std::int64_t width, double* out) noexcept;

}  // namespace plated::kernels
