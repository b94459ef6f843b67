// The semirings' operations on vectors, and loads that stop at the end of an array. Recompiled for each SIMD target.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/math-inl.hpp"
#include "semiring/dispatch.hpp"

#if defined(PLATED_KERNELS_VECTOR_RING_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_VECTOR_RING_INL_HPP_
#undef PLATED_KERNELS_VECTOR_RING_INL_HPP_
#else
#define PLATED_KERNELS_VECTOR_RING_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The vector twin of a semiring struct: multiply, add, and `import`, which brings raw entries to their normal form.
template <class Ring>
struct VectorRing;

struct AdditiveRing {
  template <class V>
  static HWY_INLINE V multiply(V a, V b) {
    return hn::Add(a, b);
  }
  template <class V>
  static HWY_INLINE V import(V x) {
    return x;
  }
};

struct MultiplicativeRing {
  // Zero annihilates even infinity.
  template <class V>
  static HWY_INLINE V multiply(V a, V b) {
    const V zero = hn::Zero(hn::DFromV<V>());
    return hn::IfThenZeroElse(hn::Or(hn::Eq(a, zero), hn::Eq(b, zero)), hn::Mul(a, b));
  }
  template <class V>
  static HWY_INLINE V import(V x) {
    return x;
  }
};

template <>
struct VectorRing<semiring::Real> : MultiplicativeRing {
  template <class V>
  static HWY_INLINE V add(V a, V b) {
    return hn::Add(a, b);
  }
};

/// Sums are formed with a running maximum elsewhere: this `add` is that maximum.
template <>
struct VectorRing<semiring::Log> : AdditiveRing {
  template <class V>
  static HWY_INLINE V add(V a, V b) {
    return hn::Max(a, b);
  }
};

template <>
struct VectorRing<semiring::MaxPlus> : VectorRing<semiring::Log> {};

template <>
struct VectorRing<semiring::MinPlus> : AdditiveRing {
  template <class V>
  static HWY_INLINE V add(V a, V b) {
    return hn::Min(a, b);
  }
};

template <>
struct VectorRing<semiring::MaxProduct> : MultiplicativeRing {
  template <class V>
  static HWY_INLINE V add(V a, V b) {
    return hn::Max(a, b);
  }
};

template <>
struct VectorRing<semiring::Boolean> {
  template <class V>
  static HWY_INLINE V import(V x) {
    const hn::DFromV<V> d;
    return hn::IfThenZeroElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, hn::TFromV<V>{1}));
  }
  template <class V>
  static HWY_INLINE V multiply(V a, V b) {
    return hn::Min(import(a), import(b));
  }
  template <class V>
  static HWY_INLINE V add(V a, V b) {
    return hn::Max(a, b);
  }
};

/// Whether a lane's state has a `sum` beside its `top`.
template <class Ring>
inline constexpr bool has_sum = std::is_same_v<Ring, semiring::Log>;

/// Whether a lane's state has a plain sum beside its `top`: a maximum may lose NaN, and this keeps it.
template <class Ring>
inline constexpr bool has_plain_sum =
    std::is_same_v<Ring, semiring::MaxPlus> || std::is_same_v<Ring, semiring::MinPlus>;

/// Real sums are kept in double; a maximum, a minimum and a running log-sum-exp lose nothing in the arithmetic type.
template <class Ring, class T>
using StateOf = std::conditional_t<std::is_same_v<Ring, semiring::Real>, double, T>;

/// The scalar twin in the arithmetic type.
template <class Ring, class T>
HWY_INLINE T multiply_scalars(T a, T b) {
  return static_cast<T>(Ring::multiply(static_cast<double>(a), static_cast<double>(b)));
}

/// The first `count` lanes from memory, `fill` in the others; touches no byte beyond them.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_some(D d, const T* from, std::size_t count, T fill) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const auto some = hn::FirstN(d, count);
  return hn::IfThenElse(some, hn::MaskedLoad(some, d, from), hn::Set(d, fill));
#else
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = i < count ? from[i] : fill;
  return hn::Load(d, lanes);
#endif
}

/// `count` lanes of either type as doubles.
template <class D>
HWY_INLINE hn::Vec<D> load_doubles(D d, const double* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_doubles(D d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
