// Exponential and logarithm on vectors, float32 and float64, right at every special value.
//
// Highway's own are wrong at NaN, 0, infinity and negatives. All arguments are reduced in the manner of Cody and Waite:
// an exact power of two times a polynomial on a short interval. Recompiled for each SIMD target.
#include <cmath>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"

#if defined(PLATED_KERNELS_MATH_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_MATH_INL_HPP_
#undef PLATED_KERNELS_MATH_INL_HPP_
#else
#define PLATED_KERNELS_MATH_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct MathConstants;

template <>
struct MathConstants<float> {
  static constexpr int mantissa_bits = 23;
  static constexpr std::int32_t exponent_bias = 127;
  // 1.5 · 2^23: adding it leaves the nearest integer in the low bits of the sum.
  static constexpr float round_magic = 12582912.0f;
  // Few bits in the high part: its products with exponents are exact.
  static constexpr float ln2_high = 0.693359375f;
  static constexpr float ln2_low = -2.12194440e-4f;
  // Beyond these exp overflows, or leaves the normal range.
  static constexpr float exp_high = 88.72283f;
  static constexpr float exp_low = -87.3f;
  // exp(r) = 1 + r + r² q(r) for |r| ≤ ln2/2, relative error 3.2e-9.
  static constexpr float exp[] = {0.4999999334f, 0.1666651901f, 0.04166840718f, 0.008368913684f, 0.001381419096f};
  // 2^f = 1 + f q(f) for |f| ≤ 1/2, relative error 2.6e-9.
  static constexpr float exp2[] = {0.6931472154f,   0.2402265281f,   0.05550309706f,
                                   0.009617689295f, 0.001340695056f, 0.000155954848f};
  static constexpr int atanh_terms = 5;
};

template <>
struct MathConstants<double> {
  static constexpr int mantissa_bits = 52;
  static constexpr std::int64_t exponent_bias = 1023;
  static constexpr double round_magic = 6755399441055744.0;
  static constexpr double ln2_high = 6.93147180369123816490e-01;
  static constexpr double ln2_low = 1.90821492927058770002e-10;
  static constexpr double exp_high = 709.782712893383973;
  static constexpr double exp_low = -708.3;
  // Taylor up to r^13: relative error 4e-18.
  static constexpr double exp[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                   1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                   1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  // Relative error 1.8e-17.
  static constexpr double exp2[] = {0.693147180559945705,     0.240226506959100985,   0.0555041086647898917,
                                    0.00961812910760665667,   0.00133335581535247112, 0.000154035304421529892,
                                    0.0000152527273334856369, 1.32154423214282979e-6, 1.01806579732088707e-7,
                                    7.0726411389019383e-9,    4.07808423732580955e-10};
  static constexpr int atanh_terms = 11;
};

/// c[0] + c[1] x + c[2] x² + …
template <std::size_t kCount, class D, class V, class T>
HWY_INLINE V Polynomial(D d, V x, const T (&c)[kCount]) {
  V sum = hn::Set(d, c[kCount - 1]);
  for (std::size_t i = kCount - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  return sum;
}

/// e^x within 2 ulp; 0 below the normal range (and at −inf), inf above it, NaN at NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp(D d, V x) {
  using T = hn::TFromD<D>;
  using C = MathConstants<T>;
  const hn::RebindToSigned<D> di;
  const V low = hn::Set(d, C::exp_low);
  const V high = hn::Set(d, C::exp_high);
  // In this order x86's Max and Min keep a NaN.
  const V clamped = hn::Min(high, hn::Max(low, x));
  const V magic = hn::Set(d, C::round_magic);
  const V rounded = hn::MulAdd(clamped, hn::Set(d, static_cast<T>(1.44269504088896340736)), magic);
  const V n = hn::Sub(rounded, magic);
  V r = hn::NegMulAdd(n, hn::Set(d, C::ln2_high), clamped);
  r = hn::NegMulAdd(n, hn::Set(d, C::ln2_low), r);
  const V p = hn::Add(hn::Set(d, T{1}), hn::MulAdd(hn::Mul(r, r), Polynomial(d, r, C::exp), r));
  // Added to the exponent field, not multiplied: 2^n alone would overflow just below the largest result.
  const V y = hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<C::mantissa_bits>(hn::BitCast(di, rounded))));
  const V finite = hn::IfThenElseZero(hn::Ge(x, low), hn::IfThenElse(hn::Gt(x, high), hn::Inf(d), y));
  return hn::IfThenElse(hn::Eq(x, x), finite, x);
}

/// The larger of a bound and x; NaN where x is NaN (x86 returns the second operand then, the portable Max the bound).
template <class V>
HWY_INLINE V AtLeast(V bound, V x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
#else
  return hn::Max(bound, x);
#endif
}

/// e^x for x ≤ 0 as a term of a sum whose largest term is 1: at most 2.4e-38 (4.5e-308) instead of 0 for very negative
/// x, exactly 1 at 0, NaN at NaN. The absolute error is within an ulp of 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpOfShifted(D d, V x) {
  using T = hn::TFromD<D>;
  using C = MathConstants<T>;
  const hn::RebindToSigned<D> di;
  const V log2e = hn::Set(d, static_cast<T>(1.44269504088896340736));
  const V clamped = AtLeast(hn::Set(d, C::exp_low), x);
  // The bias goes in with the magic number, so that one shift makes 2^n of the rounded sum.
  const V magic = hn::Set(d, C::round_magic + static_cast<T>(C::exponent_bias));
  const V rounded = hn::MulAdd(clamped, log2e, magic);
  const V f = hn::MulSub(clamped, log2e, hn::Sub(rounded, magic));
  const V p = hn::MulAdd(Polynomial(d, f, C::exp2), f, hn::Set(d, T{1}));
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<C::mantissa_bits>(hn::BitCast(di, rounded))));
}

/// Natural logarithm within 2 ulp, denormals included; −inf at 0, inf at inf, NaN at NaN and at negatives.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log(D d, V x) {
  using T = hn::TFromD<D>;
  using C = MathConstants<T>;
  const hn::RebindToSigned<D> di;
  using I = hn::TFromD<decltype(di)>;
  constexpr T two_to_mantissa = static_cast<T>(I{1} << C::mantissa_bits);
  const auto denormal = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
  const V scaled = hn::IfThenElse(denormal, hn::Mul(x, hn::Set(d, two_to_mantissa)), x);
  // x = m 2^k with m in [√½, √2): the exponent is counted from the bits of √½.
  constexpr I sqrt_half = sizeof(T) == 4 ? I{0x3F3504F3} : static_cast<I>(0x3FE6A09E667F3BCDLL);
  const auto above = hn::Sub(hn::BitCast(di, scaled), hn::Set(di, sqrt_half));
  const auto k_bits = hn::ShiftRight<C::mantissa_bits>(above);
  const V m = hn::BitCast(d, hn::Sub(hn::BitCast(di, scaled), hn::ShiftLeft<C::mantissa_bits>(k_bits)));
  // Integer to floating point by the magic number: AVX2 converts no 64-bit integers.
  const V magic = hn::Set(d, C::round_magic);
  V k = hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(di, magic), k_bits)), magic);
  k = hn::Sub(k, hn::IfThenElseZero(denormal, hn::Set(d, static_cast<T>(C::mantissa_bits))));
  // log(1 + f) = f − f²/2 + s (f²/2 + R(s²)), s = f / (2 + f): the series of 2 atanh(s), arranged so that f stays
  // exact.
  const V f = hn::Sub(m, hn::Set(d, T{1}));
  const V s = hn::Div(f, hn::Add(f, hn::Set(d, T{2})));
  const V z = hn::Mul(s, s);
  V series = hn::Set(d, T{2} / (2 * C::atanh_terms + 1));
  for (int i = C::atanh_terms - 1; i > 0; --i)
    series = hn::MulAdd(series, z, hn::Set(d, T{2} / static_cast<T>(2 * i + 1)));
  const V half_square = hn::Mul(hn::Mul(f, f), hn::Set(d, T{0.5}));
  const V small = hn::MulAdd(s, hn::MulAdd(series, z, half_square), hn::Mul(k, hn::Set(d, C::ln2_low)));
  const V y = hn::MulAdd(k, hn::Set(d, C::ln2_high), hn::Sub(f, hn::Sub(half_square, small)));
  const V positive = hn::IfThenElse(hn::Eq(x, hn::Inf(d)), x, y);
  const V not_negative = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(hn::Inf(d)), positive);
  return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), not_negative, hn::NaN(d));
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
