// The state of a row during a scan, and the inputs of its steps.
#if defined(PLATED_KERNELS_SCAN_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_ROW_INL
#undef PLATED_KERNELS_SCAN_ROW_INL
#else
#define PLATED_KERNELS_SCAN_ROW_INL
#endif

#include <cmath>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/gemm_algebra-inl.hpp"
#include "kernels/rows-inl.hpp"
#include "kernels/scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// All arrays are `width` long, and hold the semiring's zero beyond the states.
template <class T>
struct ScanRow {
  T* message;               // the algebra's form of the message
  T* input;                 // of the product: the message itself where there is nothing before the matrix
  T* product;               // becomes the next message in place
  T* logs;                  // log only: the message where real space cannot hold it
  const T *before, *after;  // this step's terms, or null
  T top;                    // the largest entry of `message`
  bool in_logs;
  double offset;
  std::int64_t exponent;  // log only: powers of two that were taken out of `message`
  double pending;         // log only: taken out between the step's two halves
  T depth;                // log only: how far the input's logarithms reach below 0
};

/// A term of one step, negated where `flip` (a zero) is negative; beyond its states is the semiring's zero. kFlips:
/// whether that may be.
template <class T, bool kFlips>
struct ScanTerm {
  const T* data;
  std::int64_t states;
  T flip = 0;
  HWY_INLINE GemmVec<T> load(std::int64_t at) const {
    constexpr T zero = -std::numeric_limits<T>::infinity();
    const GemmVec<T> term = load_of_row(data, states, at, kFlips && std::signbit(flip) ? -zero : zero);
    return kFlips ? hn::Xor(term, hn::Set(GemmTag<T>(), flip)) : term;
  }

  /// The largest entry, as what to take out: 0 where all are the semiring's zero.
  HWY_INLINE T shift() const {
    const GemmTag<T> d;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
    GemmVec<T> top = load(0);
    for (std::int64_t v = lanes; v < states; v += lanes) top = hn::Max(top, load(v));
    const T largest = hn::GetLane(hn::MaxOfLanes(d, top));
    return largest > -std::numeric_limits<T>::infinity() ? largest : T{0};
  }
};

/// to ← from ⊗ terms, less what is taken out; false, with the row as it was but for `to`, if an entry would be lost.
/// kNormalise: the message's largest entry is taken out, too. kFinal: `from` is the matrix's product, whose columns are
/// yet to be shifted. A null term is one.
template <bool kNormalise, bool kFinal, class Steps, class T>
HWY_INLINE bool scale_row(const Steps& steps, const PackedMatrix<T>& matrix, ScanRow<T>& row,
                          const typename Steps::Term& terms, const T* from, T* to) {
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const GemmVec<T> normaliser = kNormalise ? steps.normaliser(hn::Set(d, row.top)) : steps.neutral();
  const bool guarded = kFinal && matrix.deep();
  GemmVec<T> top = hn::Set(d, Steps::zero);
  auto lost = steps.none_lost();
  const auto put = [&](std::int64_t v, GemmVec<T> factor) HWY_ATTR {
    const GemmVec<T> least = guarded ? hn::LoadU(d, matrix.least_sum() + v) : hn::Zero(d);
    const GemmVec<T> y = steps.combine(hn::LoadU(d, from + v), factor, normaliser, least, lost);
    top = hn::Max(top, y);
    hn::StoreU(y, d, to + v);
  };
  T shift = 0;
  if (terms.data == nullptr) {
    for (std::int64_t v = 0; v < matrix.states(); v += lanes) put(v, steps.plain_factors(v));
  } else {
    shift = terms.shift();
    for (std::int64_t v = 0; v < matrix.states(); v += lanes) {
      const GemmVec<T> column_shift = kFinal ? hn::LoadU(d, matrix.column_shift() + v) : hn::Zero(d);
      put(v, steps.factor(terms.load(v), hn::Set(d, shift), column_shift));
    }
  }
  if (HWY_UNLIKELY(steps.any(lost))) return false;
  row.offset +=
      (static_cast<double>(shift) + (kNormalise ? steps.taken(row.top) : 0.0)) + (kFinal ? matrix.shift() : 0.0);
  if constexpr (kNormalise) row.exponent += steps.exponent_of(row.top);
  if constexpr (kFinal) row.top = hn::GetLane(hn::MaxOfLanes(d, top));
  return true;
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
