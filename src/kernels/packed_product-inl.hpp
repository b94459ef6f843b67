// Multiplies rows by a packed matrix: register tiles for several rows, or all accumulators on one row's columns.
#if defined(PLATED_KERNELS_PACKED_PRODUCT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_PACKED_PRODUCT_INL
#undef PLATED_KERNELS_PACKED_PRODUCT_INL
#else
#define PLATED_KERNELS_PACKED_PRODUCT_INL
#endif

#include <algorithm>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm_algebra-inl.hpp"
#include "kernels/gemm_micro-inl.hpp"
#include "kernels/packed_matrix.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// Every sum is formed in this one order, whatever the tile: chunks of so many terms from the first to the last, each
/// summed on its own. So bits do not depend on how rows are grouped.
inline constexpr std::int64_t product_chunk = 64;

/// Where vector j of a row's columns starts in the panels.
template <class T>
HWY_INLINE const T* packed_column(const PackedMatrix<T>& matrix, std::int64_t column) {
  constexpr std::int64_t panel = PackedMatrix<T>::panel;
  return matrix.panels() + column / panel * panel * matrix.states() + column % panel;
}

/// to[column …] for kVectors (1 to 8) vectors of columns and the terms first … first + depth − 1 of one row.
template <class Algebra, class T, int kVectors>
HWY_INLINE void row_times_vectors(const PackedMatrix<T>& matrix, const T* HWY_RESTRICT row, std::int64_t column,
                                  std::int64_t first, std::int64_t depth, T* HWY_RESTRICT to) {
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr std::int64_t panel = PackedMatrix<T>::panel;
  const auto at = [&](int j) {
    return packed_column(matrix, column + std::min(j, kVectors - 1) * lanes) + first * panel;
  };
  const T *w0 = at(0), *w1 = at(1), *w2 = at(2), *w3 = at(3), *w4 = at(4), *w5 = at(5), *w6 = at(6), *w7 = at(7);
  GemmVec<T> c0 = hn::Set(d, Algebra::zero()), c1 = c0, c2 = c0, c3 = c0, c4 = c0, c5 = c0, c6 = c0, c7 = c0;
  for (std::int64_t k = 0; k < depth; ++k) {
    const GemmVec<T> x = hn::Set(d, row[first + k]);
    const std::int64_t w = k * panel;
    c0 = Algebra::multiply_add(x, hn::LoadU(d, w0 + w), c0);
    if constexpr (kVectors > 1) c1 = Algebra::multiply_add(x, hn::LoadU(d, w1 + w), c1);
    if constexpr (kVectors > 2) c2 = Algebra::multiply_add(x, hn::LoadU(d, w2 + w), c2);
    if constexpr (kVectors > 3) c3 = Algebra::multiply_add(x, hn::LoadU(d, w3 + w), c3);
    if constexpr (kVectors > 4) c4 = Algebra::multiply_add(x, hn::LoadU(d, w4 + w), c4);
    if constexpr (kVectors > 5) c5 = Algebra::multiply_add(x, hn::LoadU(d, w5 + w), c5);
    if constexpr (kVectors > 6) c6 = Algebra::multiply_add(x, hn::LoadU(d, w6 + w), c6);
    if constexpr (kVectors > 7) c7 = Algebra::multiply_add(x, hn::LoadU(d, w7 + w), c7);
  }
  const auto put = [&](int j, GemmVec<T> c) HWY_ATTR {
    if (j >= kVectors) return;
    T* place = to + column + j * lanes;
    hn::StoreU(first > 0 ? Algebra::add(c, hn::LoadU(d, place)) : c, d, place);
  };
  put(0, c0), put(1, c1), put(2, c2), put(3, c3), put(4, c4), put(5, c5), put(6, c6), put(7, c7);
}

/// One row: to[0 … vectors · lanes − 1].
template <class Algebra, class T>
HWY_NOINLINE void row_times_matrix(const PackedMatrix<T>& matrix, const T* row, T* to) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(GemmTag<T>()));
  const std::int64_t states = matrix.states();
  for (std::int64_t first = 0; first < states; first += product_chunk) {
    const std::int64_t depth = std::min(product_chunk, states - first);
    std::int64_t column = 0;
    for (; column + 7 * lanes < states; column += 8 * lanes) {
      row_times_vectors<Algebra, T, 8>(matrix, row, column, first, depth, to);
    }
    for (; column + 3 * lanes < states; column += 4 * lanes) {
      row_times_vectors<Algebra, T, 4>(matrix, row, column, first, depth, to);
    }
    for (; column + lanes < states; column += 2 * lanes) {
      row_times_vectors<Algebra, T, 2>(matrix, row, column, first, depth, to);
    }
    for (; column < states; column += lanes) {
      row_times_vectors<Algebra, T, 1>(matrix, row, column, first, depth, to);
    }
  }
}

/// Several rows, `width` elements apart in `from` and `to`.
template <class Algebra, class T>
void rows_times_matrix(const PackedMatrix<T>& matrix, const T* from, T* to, std::int64_t rows) {
  if (rows == 1) return row_times_matrix<Algebra>(matrix, from, to);
  constexpr std::int64_t panel = PackedMatrix<T>::panel;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(GemmTag<T>()));
  const std::int64_t states = matrix.states(), width = matrix.width();
  for (std::int64_t first = 0; first < states; first += product_chunk) {
    const std::int64_t depth = std::min(product_chunk, states - first);
    for (std::int64_t column = 0; column < states;) {
      // A tile stays within its panel.
      const std::int64_t vectors = panel >= 2 * lanes && column + lanes < states ? 2 : 1;
      const T* b = packed_column(matrix, column) + first * panel;
      for (std::int64_t row = 0; row < rows; row += 6) {
        const std::int64_t count = std::min<std::int64_t>(6, rows - row);
        micro_kernel_for<Algebra, T>(count, vectors)(MicroTile<T>{depth, from + row * width + first, width, 1, b, panel,
                                                                  to + row * width + column, width, first > 0});
      }
      column += vectors * lanes;
    }
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
