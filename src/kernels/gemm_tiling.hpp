// Splits a matrix product into tasks and blocks, by its layout alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm_layout.hpp"

namespace plated::kernels {

/// Rows of a register tile: six rows of two vectors leave room for operands in sixteen registers.
inline constexpr std::int64_t gemm_max_rows = 6;
/// Columns of a register tile at most, and lanes of a vector: two vectors of 512 bits in float32.
inline constexpr std::int64_t gemm_max_lanes = 16;
inline constexpr std::int64_t gemm_max_columns = 2 * gemm_max_lanes;

/// A task is a range of batch indices × a range of product indices × a tile of rows and columns.
struct GemmTiling {
  std::int64_t batch_chunk = 1, batch_chunks = 1;
  std::int64_t product_chunk = 1, product_chunks = 1;
  std::int64_t m_tile = 1, m_tiles = 1;
  std::int64_t n_tile = 1, n_tiles = 1;
  std::int64_t k_block = 1, k_blocks = 1;

  [[nodiscard]] std::int64_t tasks() const { return batch_chunks * product_chunks * m_tiles * n_tiles; }
  /// Columns of a tile with room for the last register tile.
  [[nodiscard]] std::int64_t padded_n_tile() const {
    return (n_tile + gemm_max_columns - 1) / gemm_max_columns * gemm_max_columns;
  }
};

/// Whether packing pays: false where streaming the operands is at least as fast.
[[nodiscard]] bool gemm_pays(const GemmLayout& layout);

[[nodiscard]] GemmTiling gemm_tiling(const GemmLayout& layout);

}  // namespace plated::kernels
