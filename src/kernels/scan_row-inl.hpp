// The state of a row during a scan, and the inputs of its steps.
#if defined(PLATED_KERNELS_SCAN_ROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_ROW_INL
#undef PLATED_KERNELS_SCAN_ROW_INL
#else
#define PLATED_KERNELS_SCAN_ROW_INL
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hwy/highway.h"
#include "kernels/gemm_algebra-inl.hpp"
#include "kernels/scan.hpp"
#include "kernels/vector_ring-inl.hpp"

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

/// The vectors of an array of `states` entries in memory, negated where `flip` (a zero) is negative; beyond them is the
/// semiring's zero, and no byte is touched. kFlips: whether that may be.
template <class T, bool kFlips>
struct ScanTerm {
  const T* data;
  std::int64_t states;
  T flip = 0;
  HWY_INLINE GemmVec<T> load(std::int64_t at) const {
    const GemmTag<T> d;
    const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
    constexpr T zero = -std::numeric_limits<T>::infinity();
    const GemmVec<T> term = HWY_LIKELY(at + lanes <= states)
                                ? hn::LoadU(d, data + at)
                                : load_some(d, data + at, static_cast<std::size_t>(states - at),
                                            kFlips && std::signbit(flip) ? -zero : zero);
    return kFlips ? hn::Xor(term, hn::Set(d, flip)) : term;
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

/// to[b] ← the lanes of form(v) for the states, and no byte more.
template <class T, class Form>
HWY_INLINE void write_states(T* to, std::int64_t states, const Form& form) {
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t v = 0;
  for (; v + lanes <= states; v += lanes) hn::StoreU(form(v), d, to + v);
  if (v == states) return;
  HWY_ALIGN T rest[PackedMatrix<T>::panel];
  hn::Store(form(v), d, rest);
  std::memcpy(to + v, rest, static_cast<std::size_t>(states - v) * sizeof(T));
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
