// The scratch memory of one matrix-product task.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm_tiling.hpp"

namespace plated::kernels {

/// For each row or column of a tile: what its packed entries are relative to, and how far below they reach.
template <class T>
struct GemmShift {
  T* shift;  // the largest entry; 0 where all are the semiring's zero
  T* depth;  // the largest entry minus the smallest one that is not zero
};

template <class T>
struct GemmWorkspace {
  // Offsets of the tile's rows and columns and of the current block of inner indices.
  std::int64_t *m_a, *m_out, *n_b, *n_out, *k_a, *k_b;
  T *packed_a, *packed_b;
  T* sums;           // m_tile × padded_n_tile, between blocks of inner indices
  double* products;  // m_tile × padded_n_tile, between slices of a product
  GemmShift<T> row, column;
  std::int64_t a_panel;  // elements from one packed row panel to the next

  /// Lays the parts out from `base`; with a null base only counts. Returns the bytes.
  std::size_t lay_out(std::byte* base, const GemmLayout& layout, const GemmTiling& tiling) {
    std::size_t used = 0;
    const auto take = [&]<class U>(U*& part, std::int64_t count) {
      part = base == nullptr ? nullptr : reinterpret_cast<U*>(base + used);
      used += (static_cast<std::size_t>(count) * sizeof(U) + 63) / 64 * 64;
    };
    const std::int64_t n = tiling.padded_n_tile();
    take(m_a, tiling.m_tile);
    take(m_out, tiling.m_tile);
    take(n_b, n);
    take(n_out, n);
    take(k_a, tiling.k_block);
    take(k_b, tiling.k_block);
    // Panels are transformed by whole vectors: each has room for the last one.
    a_panel = (gemm_max_rows * tiling.k_block + gemm_max_lanes - 1) / gemm_max_lanes * gemm_max_lanes;
    const std::int64_t a_panels = (tiling.m_tile + gemm_max_rows - 1) / gemm_max_rows;
    take(packed_a, a_panels * a_panel);
    take(packed_b, n * tiling.k_block);
    take(sums, tiling.k_blocks > 1 ? tiling.m_tile * n : 0);
    take(products, layout.has_product ? tiling.m_tile * n : 0);
    const bool shifted = layout.semiring == Semiring::log;
    for (T** part : {&row.shift, &row.depth}) take(*part, shifted ? tiling.m_tile : 0);
    for (T** part : {&column.shift, &column.depth}) take(*part, shifted ? n : 0);
    return used;
  }
};

}  // namespace plated::kernels
