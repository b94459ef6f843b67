// Chooses tiles: few, large ones for big matrices, many matrices per task for small ones.
#include "kernels/gemm_tiling.hpp"

#include <algorithm>

namespace plated::kernels {
namespace {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// A task shorter than this does not repay its hand-over to another thread.
constexpr double task_ns = 50e3;
constexpr std::int64_t max_parts = 64;
// Each task packs its own panels: smaller tiles would pack the same operand too often.
constexpr std::int64_t min_m_tile = 256, min_n_tile = 512;
// Packed panels and partial sums of a tile stay within a few megabytes.
constexpr std::int64_t max_m_tile = 512, max_n_tile = 1024;
// A column panel of this depth stays in the first-level cache, and sums of this length stay precise in float32.
constexpr std::int64_t max_k_block = 256;
constexpr std::int64_t max_shared_bytes = std::int64_t{4} << 20;

double estimated_ns(const GemmLayout& layout) {
  const double m = static_cast<double>(layout.m.size()), n = static_cast<double>(layout.n.size()),
               k = static_cast<double>(layout.k.size());
  const bool narrow = layout.compute_dtype == Dtype::float32;
  double ns = m * n * k * (narrow ? 0.02 : 0.04) + (m * k + k * n + m * n) * 0.3;
  if (layout.semiring == Semiring::log) ns += (m * k + k * n + m * n) * (narrow ? 0.7 : 1.5);
  return ns * static_cast<double>(layout.batch.size()) * static_cast<double>(layout.product.size());
}

// Cuts `size` into at most `parts` pieces, none but the last smaller than `least` nor any larger than `most`.
void cut(std::int64_t size, std::int64_t parts, std::int64_t least, std::int64_t most, std::int64_t unit,
         std::int64_t& tile, std::int64_t& tiles) {
  tiles = std::max(std::min(parts, size / least), ceil_div(size, most));
  tiles = std::max<std::int64_t>(tiles, 1);
  tile = std::min(size, ceil_div(ceil_div(size, tiles), unit) * unit);
  tiles = ceil_div(size, tile);
}

}  // namespace

bool gemm_pays(const GemmLayout& layout) {
  const std::int64_t m = layout.m.size(), n = layout.n.size(), k = layout.k.size();
  if (m < 4 || n < 4 || k < 2) return false;
  // Measured: without exponentials even batches of 4 × 4 × 4 run two to three times as fast as streamed; in log space
  // the shifts of rows and columns cost as much as the exponentials that they save at about 8 × 8 × 8 or 16 × 16 × 2.
  if (layout.semiring != Semiring::log) return true;
  // A handful of terms is exact and nearly as quick in the fused log-sum-exp; in float32, shifts would cancel too
  // often.
  if (layout.compute_dtype == Dtype::float32 && k < 5) return false;
  return m * n * k >= 512;
}

GemmTiling gemm_tiling(const GemmLayout& layout) {
  GemmTiling tiling;
  const std::int64_t batch = layout.batch.size(), product = layout.product.size();
  const std::int64_t m = layout.m.size(), n = layout.n.size(), k = layout.k.size();
  std::int64_t parts = static_cast<std::int64_t>(std::clamp(estimated_ns(layout) / task_ns, 1.0, double{max_parts}));

  tiling.batch_chunk = ceil_div(batch, std::min(batch, parts));
  tiling.batch_chunks = ceil_div(batch, tiling.batch_chunk);
  parts = ceil_div(parts, tiling.batch_chunks);
  cut(m, parts, min_m_tile, max_m_tile, gemm_max_rows, tiling.m_tile, tiling.m_tiles);
  parts = ceil_div(parts, tiling.m_tiles);
  cut(n, parts, min_n_tile, max_n_tile, gemm_max_columns, tiling.n_tile, tiling.n_tiles);
  parts = ceil_div(parts, tiling.n_tiles);

  // What is left to share out is a long product over a small output.
  const std::int64_t partials = max_shared_bytes / static_cast<std::int64_t>(sizeof(double)) / (batch * m * n);
  parts = std::clamp<std::int64_t>(std::min(parts, partials), 1, product);
  tiling.product_chunk = ceil_div(product, parts);
  tiling.product_chunks = ceil_div(product, tiling.product_chunk);

  tiling.k_blocks = ceil_div(k, max_k_block);
  tiling.k_block = ceil_div(k, tiling.k_blocks);
  return tiling;
}

}  // namespace plated::kernels
