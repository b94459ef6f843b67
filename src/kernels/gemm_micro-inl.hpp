// The register tile: up to six rows times two vectors of columns, accumulated over a block of inner indices.
#if defined(PLATED_KERNELS_GEMM_MICRO_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_GEMM_MICRO_INL
#undef PLATED_KERNELS_GEMM_MICRO_INL
#else
#define PLATED_KERNELS_GEMM_MICRO_INL
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/gemm_algebra-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// A register tile's operands: a[row · a_row + k · a_k], b[k · b_k + column]; c[row · c_row + column] receives the
/// sums.
template <class T>
struct MicroTile {
  std::int64_t depth;
  const T* a;
  std::int64_t a_row, a_k;
  const T* b;
  std::int64_t b_k;
  T* c;
  std::int64_t c_row;
  bool add;  // to what c holds: a later block of inner indices
};

template <class Algebra, int kVectors, class T>
HWY_INLINE void micro_step(T a, GemmVec<T> b0, GemmVec<T> b1, GemmVec<T>& c0, GemmVec<T>& c1) {
  const GemmVec<T> va = hn::Set(GemmTag<T>(), a);
  c0 = Algebra::multiply_add(va, b0, c0);
  if constexpr (kVectors > 1) c1 = Algebra::multiply_add(va, b1, c1);
}

template <class Algebra, int kVectors, class T>
HWY_INLINE void micro_store(const MicroTile<T>& tile, int row, GemmVec<T> c0, GemmVec<T> c1) {
  const GemmTag<T> d;
  T* to = tile.c + row * tile.c_row;
  // Blocks are summed on their own before they are added up: the error grows with the block, not with the whole sum.
  hn::StoreU(tile.add ? Algebra::add(c0, hn::LoadU(d, to)) : c0, d, to);
  if constexpr (kVectors > 1) {
    to += hn::Lanes(d);
    hn::StoreU(tile.add ? Algebra::add(c1, hn::LoadU(d, to)) : c1, d, to);
  }
}

// The accumulators are twelve variables, not an array: vectors without a fixed size cannot be array elements.
template <class Algebra, class T, int kRows, int kVectors>
HWY_NOINLINE void micro_kernel(const MicroTile<T>& tile) {
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const GemmVec<T> zero = hn::Set(d, Algebra::zero());
  GemmVec<T> c00 = zero, c10 = zero, c20 = zero, c30 = zero, c40 = zero, c50 = zero;
  GemmVec<T> c01 = zero, c11 = zero, c21 = zero, c31 = zero, c41 = zero, c51 = zero;
  const std::int64_t a_row = tile.a_row, a_k = tile.a_k, b_k = tile.b_k;
  const T* HWY_RESTRICT upper = tile.a;
  const T* HWY_RESTRICT lower = tile.a + 3 * a_row;
  const T* HWY_RESTRICT b = tile.b;
  for (std::int64_t k = 0; k < tile.depth; ++k) {
    const GemmVec<T> b0 = hn::LoadU(d, b);
    const GemmVec<T> b1 = kVectors > 1 ? hn::LoadU(d, b + lanes) : b0;
    micro_step<Algebra, kVectors>(upper[0], b0, b1, c00, c01);
    if constexpr (kRows > 1) micro_step<Algebra, kVectors>(upper[a_row], b0, b1, c10, c11);
    if constexpr (kRows > 2) micro_step<Algebra, kVectors>(upper[2 * a_row], b0, b1, c20, c21);
    if constexpr (kRows > 3) micro_step<Algebra, kVectors>(lower[0], b0, b1, c30, c31);
    if constexpr (kRows > 4) micro_step<Algebra, kVectors>(lower[a_row], b0, b1, c40, c41);
    if constexpr (kRows > 5) micro_step<Algebra, kVectors>(lower[2 * a_row], b0, b1, c50, c51);
    upper += a_k;
    lower += a_k;
    b += b_k;
  }
  micro_store<Algebra, kVectors>(tile, 0, c00, c01);
  if constexpr (kRows > 1) micro_store<Algebra, kVectors>(tile, 1, c10, c11);
  if constexpr (kRows > 2) micro_store<Algebra, kVectors>(tile, 2, c20, c21);
  if constexpr (kRows > 3) micro_store<Algebra, kVectors>(tile, 3, c30, c31);
  if constexpr (kRows > 4) micro_store<Algebra, kVectors>(tile, 4, c40, c41);
  if constexpr (kRows > 5) micro_store<Algebra, kVectors>(tile, 5, c50, c51);
}

template <class T>
using MicroKernel = void (*)(const MicroTile<T>&);

/// The kernel for so many rows (1 to 6) and vectors of columns (1 or 2).
template <class Algebra, class T>
MicroKernel<T> micro_kernel_for(std::int64_t rows, std::int64_t vectors) {
  static constexpr MicroKernel<T> kernels[2][6] = {
      {micro_kernel<Algebra, T, 1, 1>, micro_kernel<Algebra, T, 2, 1>, micro_kernel<Algebra, T, 3, 1>,
       micro_kernel<Algebra, T, 4, 1>, micro_kernel<Algebra, T, 5, 1>, micro_kernel<Algebra, T, 6, 1>},
      {micro_kernel<Algebra, T, 1, 2>, micro_kernel<Algebra, T, 2, 2>, micro_kernel<Algebra, T, 3, 2>,
       micro_kernel<Algebra, T, 4, 2>, micro_kernel<Algebra, T, 5, 2>, micro_kernel<Algebra, T, 6, 2>}};
  return kernels[vectors - 1][rows - 1];
}

// Those that others share are compiled with the matrix products of their type.
extern template MicroKernel<float> micro_kernel_for<SumOfProducts<float>, float>(std::int64_t, std::int64_t);
extern template MicroKernel<float> micro_kernel_for<MaxOfSums<float>, float>(std::int64_t, std::int64_t);
extern template MicroKernel<double> micro_kernel_for<SumOfProducts<double>, double>(std::int64_t, std::int64_t);
extern template MicroKernel<double> micro_kernel_for<MaxOfSums<double>, double>(std::int64_t, std::int64_t);

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
