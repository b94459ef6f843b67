// The entry points of a scan, compiled for every SIMD target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/scan.hpp"

namespace plated::kernels {

/// Rows that go through the steps together, sharing the matrix in the cache.
inline constexpr std::int64_t scan_block_rows = 12;

template <class T>
[[nodiscard]] constexpr std::size_t scan_scratch_bytes(std::int64_t width) {
  // For each row: message, product, input of the product, logarithms; and a vector for a strided term.
  return static_cast<std::size_t>((4 * scan_block_rows + 1) * width) * sizeof(T);
}

/// A step of one row, about, in nanoseconds: for the questions whether to stop.
[[nodiscard]] constexpr std::int64_t scan_step_work(std::int64_t states) { return 8 + states * states / 8; }

void run_scan(Semiring semiring, const AnyScanMatrix& matrix, std::int64_t first, std::int64_t last, const ScanRun& run,
              std::byte* scratch) noexcept;

}  // namespace plated::kernels
