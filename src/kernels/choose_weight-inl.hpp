// The weight of a state, as all draws compute it. Recompiled for each SIMD target.
#include "hwy/highway.h"
#include "kernels/math-inl.hpp"

#if defined(PLATED_KERNELS_CHOOSE_WEIGHT_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_CHOOSE_WEIGHT_INL_HPP_
#undef PLATED_KERNELS_CHOOSE_WEIGHT_INL_HPP_
#else
#define PLATED_KERNELS_CHOOSE_WEIGHT_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Exactly 0 below the normal range, where a weight is nothing against the largest, which is 1; 0 at NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V weight_of(D d, V x) {
  const V low = hn::Set(d, MathConstants<hn::TFromD<D>>::exp_low);
  return hn::IfThenElseZero(hn::Ge(x, low), ExpOfShifted(d, x));
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
