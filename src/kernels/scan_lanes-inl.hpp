// Takes rows of few states through the steps of a scan, each lane of a vector being a row.
#if defined(PLATED_KERNELS_SCAN_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_LANES_INL
#undef PLATED_KERNELS_SCAN_LANES_INL
#else
#define PLATED_KERNELS_SCAN_LANES_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "hwy/highway.h"
#include "kernels/rows-inl.hpp"
#include "kernels/scan_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// The same arithmetic in the same order as ScanRows, hence the same bits. A row that loses an entry goes through these
/// steps as one of ScanRows, as do those in logarithms.
template <class Steps, class T>
class ScanLanes {
 public:
  explicit ScanLanes(ScanRows<Steps, T>& rows)
      : rows_(rows), run_(rows.run_), matrix_(rows.matrix_), steps_(rows.steps_) {}

  /// Whether lanes beat vectors of states for so many rows, measured.
  [[nodiscard]] static bool pays(std::int64_t states, std::int64_t rows) {
    return states <= 2 || (states <= most_states && 2 * rows >= states);
  }

  [[nodiscard]] static std::int64_t ahead() { return most_ahead; }

  void enter() {
    rows_.enter();
    // Lanes without a row, and slices that do not exist, hold numbers, too.
    std::fill_n(messages_, most_entries, Steps::zero);
    std::fill_n(before_, most_ahead * most_entries, T{0});
    std::fill_n(after_, most_ahead * most_entries, T{0});
    std::fill_n(alone_, most_lanes, true);
    put_back(0);
  }

  void take(std::int64_t s, std::int64_t count) {
    states_ == 2 ? take_steps<2>(s, count) : states_ == 4 ? take_steps<4>(s, count) : take_steps<0>(s, count);
    for (std::int64_t i = 0; i < rows_.rows_ && any_alone_; ++i) {
      alone_[i] = rows_.in_logs_[0][i] || lost_[i] != 0;
      if (!alone_[i]) continue;
      if (!rows_.in_logs_[0][i]) {
        T* const message = rows_.message(0, i);
        std::fill_n(message, matrix_.width(), Steps::zero);
        for (std::int64_t b = 0; b < states_; ++b) message[b] = messages_[b * lanes() + i];
      }
      rows_.take_alone(i, s, 0, count, false);
    }
  }

  template <bool kLinear>
  void write(std::int64_t k, const SlicePlace& to, std::int64_t step) {
    const V divisor = steps_.divisor(hn::Load(d_, rows_.tops_[k]));
    const V reciprocal = steps_.reciprocal(divisor);
    const T* const message = messages_ + k * most_entries;
    const auto form = [&](std::int64_t b) HWY_ATTR {
      return steps_.template form<kLinear>(hn::Load(d_, message + b * lanes()), divisor, reciprocal);
    };
    if (states_ == 2) {
      hn::StoreInterleaved2(form(0), form(1), d_, together_);
    } else if (states_ == 4) {
      hn::StoreInterleaved4(form(0), form(1), form(2), form(3), d_, together_);
    } else {
      for (std::int64_t b = 0; b < states_; ++b) hn::Store(form(b), d_, formed_ + b * lanes());
      for (std::int64_t i = 0; i < rows_.rows_; ++i) {
        for (std::int64_t b = 0; b < states_; ++b) together_[i * states_ + b] = formed_[b * lanes() + i];
      }
    }
    if (to.row_offset == nullptr && to.row_stride == states_) {
      std::copy_n(together_, rows_.rows_ * states_, to.at<T>(step, rows_.first_));
    } else {
      for (std::int64_t i = 0; i < rows_.rows_; ++i) {
        std::copy_n(together_ + i * states_, states_, to.at<T>(step, rows_.first_ + i));
      }
    }
    for (std::int64_t i = 0; i < rows_.rows_ && any_alone_; ++i) {
      if (alone_[i]) rows_.template write_row<kLinear>(k, i, to.at<T>(step, rows_.first_ + i), states_);
    }
  }

  void carry(std::int64_t count) {
    std::copy_n(messages_ + count * most_entries, states_ * lanes(), messages_);
    if (!any_alone_) return;
    rows_.carry(count);
    put_back(count);
  }

 private:
  using V = GemmVec<T>;
  using Lost = ScanLost<T>;
  using Algebra = typename Steps::Algebra;
  static constexpr std::int64_t most_states = 8;  // more fill vectors of their own
  static constexpr std::int64_t most_lanes = PackedMatrix<T>::panel;
  static constexpr std::int64_t most_entries = most_states * most_lanes;
  static constexpr std::int64_t most_ahead = 8;

  // A constant where vectors have a fixed size.
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())); }

  /// What comes of rows that have been alone for `count` steps joins the others, or is zeros where it is in logarithms.
  void put_back(std::int64_t count) {
    any_alone_ = false;
    for (std::int64_t i = 0; i < rows_.rows_; ++i) {
      if (!alone_[i]) continue;
      alone_[i] = rows_.in_logs_[count][i];
      any_alone_ = any_alone_ || alone_[i];
      for (std::int64_t b = 0; b < states_; ++b) {
        messages_[b * lanes() + i] = alone_[i] ? Steps::zero : rows_.message(0, i)[b];
      }
    }
  }

  /// Messages after step k go to messages_ at k + 1. kStates: 0, or the number of states where messages stay in
  /// registers, as going through memory would cost more than all the arithmetic.
  template <int kStates>
  HWY_NOINLINE void take_steps(std::int64_t s, std::int64_t count) {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    const bool has_before = run_.before.data != nullptr, has_after = run_.after.data != nullptr;
    if (has_before) gather<kStates>(run_.before, s, before_);
    if (has_after) gather<kStates>(run_.after, s, after_);
    const T* const panels = matrix_.panels();
    const T* const column_shift = matrix_.column_shift();
    const T* const column_scale = matrix_.column_scale();
    const T* const least_sum = matrix_.least_sum();
    const bool ragged = rows_.ragged_;
    for (std::int64_t i = 0; i < rows_.rows_ && ragged; ++i) {
      begin_[i] = static_cast<T>(rows_.begin_[i]);
      end_[i] = static_cast<T>(rows_.end_[i]);
    }
    const V zero = hn::Zero(d_);
    V m0 = zero, m1 = zero, m2 = zero, m3 = zero;
    const auto set = [&](std::int64_t a, V x) HWY_ATTR {
      if (a == 0) m0 = x;
      if (a == 1) m1 = x;
      if (a == 2) m2 = x;
      if (a == 3) m3 = x;
    };
    for (std::int64_t a = 0; a < kStates; ++a) set(a, hn::Load(d_, messages_ + a * lanes()));
    T* tops = rows_.tops_[0];
    V top = hn::Load(d_, tops);
    const Lost none = ScanWalk<Steps, T>::none();
    Lost ever_lost = none;
    for (std::int64_t k = 0; k < count; ++k) {
      const T* from = messages_ + k * most_entries;
      T* const to = messages_ + (k + 1) * most_entries;
      const auto entry = [&](std::int64_t a) HWY_ATTR {
        if constexpr (kStates == 0) return hn::Load(d_, from + a * lanes());
        return a == 0 ? m0 : a == 1 ? m1 : a == 2 ? m2 : m3;
      };
      Lost lost = none;
      V x0 = zero, x1 = zero, x2 = zero, x3 = zero, before_shift = zero, after_shift = zero;
      if (has_before) {
        const T* const terms = before_ + k * most_entries;
        before_shift = load_terms<kStates>(terms, states, x0, x1, x2, x3);
        for (std::int64_t a = 0; a < states; ++a) {
          const V factor = steps_.factor(pick<kStates>(terms, a, x0, x1, x2, x3), before_shift, zero);
          const V x = steps_.combine(entry(a), factor, steps_.neutral(), zero, lost);
          kStates > 0 ? set(a, x) : hn::Store(x, d_, formed_ + a * lanes());
        }
        from = formed_;
      }
      const T* const terms = after_ + k * most_entries;
      if (has_after) after_shift = load_terms<kStates>(terms, states, x0, x1, x2, x3);
      note_taken(before_shift, after_shift, rows_.taken_[k]);
      const V normaliser = steps_.normaliser(top);
      V next_top = hn::Set(d_, Steps::zero);
      const auto finish = [&](std::int64_t b, V sum) HWY_ATTR {
        const V column = hn::Set(d_, has_after ? column_shift[b] : column_scale[b]);
        const V factor =
            has_after ? steps_.factor(pick<kStates>(terms, b, x0, x1, x2, x3), after_shift, column) : column;
        const V x = steps_.combine(sum, factor, normaliser, hn::Set(d_, least_sum[b]), lost);
        next_top = hn::Max(next_top, x);
        hn::Store(x, d_, to + b * lanes());
        if constexpr (kStates > 0) set(b, x);
      };
      // Four sums of every fourth term, as ScanRows forms them. Columns beyond the states are in the panel, too.
      const auto product = [&](std::int64_t b) HWY_ATTR {
        const auto quarter = [&](std::int64_t first) HWY_ATTR {
          V sum = hn::Set(d_, Algebra::zero());
          for (std::int64_t a = first; a < states; a += 4) {
            sum = Algebra::multiply_add(entry(a), hn::Set(d_, panels[a * PackedMatrix<T>::panel + b]), sum);
          }
          return sum;
        };
        const V sum = Algebra::add(quarter(0), quarter(1));
        return states > 2 ? Algebra::add(sum, Algebra::add(quarter(2), quarter(3))) : sum;
      };
      constexpr int columns = kStates == 2 ? 2 : 4;
      for (std::int64_t b = 0; b < states; b += columns) {
        const V c0 = product(b), c1 = product(b + 1);
        const V c2 = columns > 2 ? product(b + 2) : c0, c3 = columns > 2 ? product(b + 3) : c0;
        finish(b, c0);
        if (b + 1 < states) finish(b + 1, c1);
        if (columns > 2 && b + 2 < states) finish(b + 2, c2);
        if (columns > 2 && b + 3 < states) finish(b + 3, c3);
      }
      if (HWY_UNLIKELY(ragged)) {
        const V step = hn::Set(d_, static_cast<T>(k));
        const Lost exists = hn::AndNot(hn::Lt(step, hn::Load(d_, begin_)), hn::Lt(step, hn::Load(d_, end_)));
        lost = hn::And(lost, exists);
        next_top = hn::IfThenElse(exists, next_top, top);
        for (std::int64_t b = 0; b < states; ++b) {
          const V x =
              hn::IfThenElse(exists, hn::Load(d_, to + b * lanes()), hn::Load(d_, to - most_entries + b * lanes()));
          hn::Store(x, d_, to + b * lanes());
          if constexpr (kStates > 0) set(b, x);
        }
      }
      if (Steps::may_lose) ever_lost = hn::Or(ever_lost, hn::And(lost, hn::Gt(top, hn::Set(d_, Steps::zero))));
      top = next_top;
      tops += scan_most_rows;
      hn::Store(top, d_, tops);
    }
    if (!Steps::may_lose) return;
    any_alone_ = any_alone_ || !hn::AllFalse(d_, ever_lost);
    hn::Store(hn::IfThenElseZero(ever_lost, hn::Set(d_, T{1})), d_, lost_);
  }

  /// The terms of a step, and the largest of each row, as what to take out: 0 where all are zero. kStates: in
  /// registers.
  template <int kStates>
  HWY_INLINE V load_terms(const T* from, std::int64_t states, V& x0, V& x1, V& x2, V& x3) const {
    if constexpr (kStates == 2) hn::LoadInterleaved2(d_, from, x0, x1);
    if constexpr (kStates == 4) hn::LoadInterleaved4(d_, from, x0, x1, x2, x3);
    V top = pick<kStates>(from, 0, x0, x1, x2, x3);
    for (std::int64_t b = 1; b < states; ++b) top = hn::Max(top, pick<kStates>(from, b, x0, x1, x2, x3));
    return hn::IfThenElseZero(hn::Gt(top, hn::Set(d_, -std::numeric_limits<T>::infinity())), top);
  }
  template <int kStates>
  HWY_INLINE V pick(const T* from, std::int64_t b, V x0, V x1, V x2, V x3) const {
    if constexpr (kStates == 0) return steps_.term(hn::Load(d_, from + b * lanes()));
    return steps_.term(b == 0 ? x0 : b == 1 ? x1 : b == 2 ? x2 : x3);
  }

  /// Adds what a step takes out of its terms.
  HWY_INLINE void note_taken(V before, V after, double* taken) {
    const hn::CappedTag<double, 8> d;
    hn::Store(before, d_, shift_);
    hn::Store(after, d_, shift_ + most_lanes);
    for (std::int64_t i = 0; i < lanes(); i += static_cast<std::int64_t>(hn::Lanes(d))) {
      hn::Store(hn::Add(load_doubles(d, shift_ + i), load_doubles(d, shift_ + most_lanes + i)), d, taken + i);
    }
  }

  /// Entries of steps that exist. kStates: row by row; else in lanes.
  template <int kStates>
  HWY_INLINE void gather(const SliceTerm& slices, std::int64_t s, T* to) {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    for (std::int64_t i = 0; i < rows_.rows_; ++i) {
      const T* const from = slices.at<T>(s, rows_.first_ + i);
      for (std::int64_t k = rows_.begin_[i]; k < rows_.end_[i]; ++k) {
        const T* const entries = from + k * slices.step_stride;
        T* const place = to + k * most_entries + i * (kStates > 0 ? kStates : 1);
        if (kStates > 0 && HWY_LIKELY(slices.state_stride == 1)) {
          std::memcpy(place, entries, kStates * sizeof(T));
        } else {
          for (std::int64_t b = 0; b < states; ++b)
            place[kStates > 0 ? b : b * lanes()] = entries[b * slices.state_stride];
        }
      }
    }
  }

  ScanRows<Steps, T>& rows_;
  const ScanRun& run_;
  const PackedMatrix<T>& matrix_;
  const Steps& steps_;
  const std::int64_t states_ = matrix_.states();
  const GemmTag<T> d_{};
  bool any_alone_ = false;
  bool alone_[most_lanes];

  alignas(64) T before_[most_ahead * most_entries];
  alignas(64) T after_[most_ahead * most_entries];
  // Not a multiple of 4096 bytes from the terms, or the next step's loads would wait for this step's stores, which seem
  // to go to the same place.
  alignas(64) T together_[most_entries / 2 * 3];
  alignas(64) T messages_[(most_ahead + 1) * most_entries];
  alignas(64) T formed_[most_entries];
  alignas(64) T shift_[2 * most_lanes];
  alignas(64) T lost_[most_lanes];
  alignas(64) T begin_[most_lanes] = {};
  alignas(64) T end_[most_lanes] = {};
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
