// Takes lanes through several steps at once, with messages of very few states kept in registers.
#if defined(PLATED_KERNELS_SCAN_BURST_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_BURST_INL
#undef PLATED_KERNELS_SCAN_BURST_INL
#else
#define PLATED_KERNELS_SCAN_BURST_INL
#endif

#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/scan_matrix.hpp"
#include "kernels/scan_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// What a step of lanes takes out of its messages and terms, each lane on its own.
template <class T>
struct ScanTaken {
  static constexpr std::int64_t most_lanes = ScanMatrix<T>::panel;
  alignas(64) T top[most_lanes];
  alignas(64) T before[most_lanes];
  alignas(64) T after[most_lanes];
};

/// The arrays of a burst: entry (step, state, lane) is at step · pitch + state · lanes + lane.
template <class T>
struct ScanBurstData {
  std::int64_t steps, pitch;
  const T *before, *after;  // terms, or null
  const T* message;         // at the start
  T* top;                   // of the message: of the first one at the start, of the last one at the end
  T* history;               // the message after each step
  ScanTaken<T>* taken;
};

/// The arithmetic of ScanLanes::step for 2 or 4 states, in the same order. Between steps nothing goes through memory,
/// which would cost more than all the arithmetic.
template <class Steps, class T, int kStates>
class ScanBurst {
 public:
  ScanBurst(const ScanMatrix<T>& matrix, const Steps& steps) : matrix_(matrix), steps_(steps) {}

  /// False, and the messages as they were, if a lane cannot be done so.
  bool run(const ScanBurstData<T>& data) const {
    V m0 = hn::Load(d_, data.message), m1 = hn::Load(d_, data.message + lanes_);
    V m2 = m0, m3 = m1;
    if constexpr (kStates == 4) {
      m2 = hn::Load(d_, data.message + 2 * lanes_);
      m3 = hn::Load(d_, data.message + 3 * lanes_);
    }
    const V none = hn::Zero(d_);
    V top = hn::Load(d_, data.top);
    for (std::int64_t s = 0; s < data.steps; ++s) {
      const V first_top = top;
      auto lost = steps_.none_lost();
      V normaliser = steps_.normaliser(top);
      ScanTaken<T>& taken = data.taken[s];
      hn::Store(top, d_, taken.top);
      if (data.before != nullptr) {
        const T* const term = data.before + s * data.pitch;
        const V shift = shift_of(term);
        hn::Store(shift, d_, taken.before);
        const auto multiply = [&](V m, int a) HWY_ATTR {
          return steps_.combine(m, steps_.factor(load_term(term, a), shift, none), normaliser, none, lost);
        };
        m0 = multiply(m0, 0);
        m1 = multiply(m1, 1);
        if constexpr (kStates == 4) m2 = multiply(m2, 2), m3 = multiply(m3, 3);
        normaliser = steps_.no_normaliser();
      }
      const T* const after = data.after == nullptr ? nullptr : data.after + s * data.pitch;
      V shift = none;
      if (after != nullptr) shift = shift_of(after);
      hn::Store(shift, d_, taken.after);
      const auto finish = [&](V sum, int b) HWY_ATTR {
        const V factor = after != nullptr
                             ? steps_.factor(load_term(after, b), shift, hn::Set(d_, matrix_.column_shift()[b]))
                             : steps_.plain_factor(b);
        const V x = steps_.combine(sum, factor, normaliser, hn::Set(d_, matrix_.least_sum()[b]), lost);
        hn::Store(x, d_, data.history + s * data.pitch + b * lanes_);
        return x;
      };
      const V x0 = finish(column(0, m0, m1, m2, m3), 0), x1 = finish(column(1, m0, m1, m2, m3), 1);
      top = hn::Max(hn::Max(hn::Set(d_, Steps::zero), x0), x1);
      if constexpr (kStates == 4) {
        const V x2 = finish(column(2, m0, m1, m2, m3), 2), x3 = finish(column(3, m0, m1, m2, m3), 3);
        top = hn::Max(top, hn::Max(x2, x3));
        m2 = x2;
        m3 = x3;
      }
      m0 = x0;
      m1 = x1;
      if (HWY_UNLIKELY(steps_.any(steps_.of_live(lost, first_top)))) return false;
    }
    hn::Store(top, d_, data.top);
    return true;
  }

 private:
  using V = GemmVec<T>;
  using Algebra = typename Steps::Algebra;

  HWY_INLINE V column(int b, V m0, V m1, V m2, V m3) const {
    const T* const w = matrix_.panels() + b;
    constexpr std::int64_t panel = ScanMatrix<T>::panel;
    V sum = Algebra::multiply_add(m0, hn::Set(d_, w[0]), hn::Set(d_, Algebra::zero()));
    sum = Algebra::multiply_add(m1, hn::Set(d_, w[panel]), sum);
    if constexpr (kStates == 4) {
      sum = Algebra::multiply_add(m2, hn::Set(d_, w[2 * panel]), sum);
      sum = Algebra::multiply_add(m3, hn::Set(d_, w[3 * panel]), sum);
    }
    return sum;
  }

  HWY_INLINE V load_term(const T* terms, std::int64_t state) const {
    const V term = hn::Load(d_, terms + state * lanes_);
    return Steps::negated ? hn::Neg(term) : term;
  }

  HWY_INLINE V shift_of(const T* terms) const {
    V largest = load_term(terms, 0);
    for (std::int64_t b = 1; b < kStates; ++b) largest = hn::Max(largest, load_term(terms, b));
    return hn::IfThenElseZero(hn::Gt(largest, hn::Set(d_, -std::numeric_limits<T>::infinity())), largest);
  }

  const ScanMatrix<T>& matrix_;
  const Steps& steps_;
  const GemmTag<T> d_{};
  const std::int64_t lanes_ = static_cast<std::int64_t>(hn::Lanes(d_));
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
