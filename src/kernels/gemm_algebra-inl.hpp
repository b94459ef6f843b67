// The vector operations of a register tile in each semiring.
#if defined(PLATED_KERNELS_GEMM_ALGEBRA_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_GEMM_ALGEBRA_INL
#undef PLATED_KERNELS_GEMM_ALGEBRA_INL
#else
#define PLATED_KERNELS_GEMM_ALGEBRA_INL
#endif

#include <limits>

#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of at most 512 bits, so that scratch sizes hold for every target.
template <class T>
using GemmTag = hn::CappedTag<T, 64 / sizeof(T)>;
template <class T>
using GemmVec = hn::Vec<GemmTag<T>>;

// Each algebra: zero(), the start of a sum; multiply_add(a, b, c) = a ⊗ b ⊕ c; add(a, b) = a ⊕ b, on whatever the
// panels hold. Semirings may share one where packing and the epilogue make up the difference.
template <class T>
struct SumOfProducts {
  static constexpr T zero() { return 0; }
  static HWY_INLINE GemmVec<T> multiply_add(GemmVec<T> a, GemmVec<T> b, GemmVec<T> c) { return hn::MulAdd(a, b, c); }
  static HWY_INLINE GemmVec<T> add(GemmVec<T> a, GemmVec<T> b) { return hn::Add(a, b); }
};

template <class T>
struct MaxOfSums {
  static constexpr T zero() { return -std::numeric_limits<T>::infinity(); }
  static HWY_INLINE GemmVec<T> multiply_add(GemmVec<T> a, GemmVec<T> b, GemmVec<T> c) {
    return hn::Max(hn::Add(a, b), c);
  }
  static HWY_INLINE GemmVec<T> add(GemmVec<T> a, GemmVec<T> b) { return hn::Max(a, b); }
};

template <class T>
struct MinOfSums {
  static constexpr T zero() { return std::numeric_limits<T>::infinity(); }
  static HWY_INLINE GemmVec<T> multiply_add(GemmVec<T> a, GemmVec<T> b, GemmVec<T> c) {
    return hn::Min(hn::Add(a, b), c);
  }
  static HWY_INLINE GemmVec<T> add(GemmVec<T> a, GemmVec<T> b) { return hn::Min(a, b); }
};

/// On entries ≥ 0.
template <class T>
struct MaxOfProducts {
  static constexpr T zero() { return 0; }
  static HWY_INLINE GemmVec<T> multiply_add(GemmVec<T> a, GemmVec<T> b, GemmVec<T> c) {
    return hn::Max(hn::Mul(a, b), c);
  }
  static HWY_INLINE GemmVec<T> add(GemmVec<T> a, GemmVec<T> b) { return hn::Max(a, b); }
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
