// Takes rows through the steps of a scan, each lane of a vector being a state.
#if defined(PLATED_KERNELS_SCAN_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_ROWS_INL
#undef PLATED_KERNELS_SCAN_ROWS_INL
#else
#define PLATED_KERNELS_SCAN_ROWS_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/watch.hpp"
#include "hwy/highway.h"
#include "kernels/scan.hpp"
#include "kernels/scan_record-inl.hpp"
#include "kernels/scan_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// About, in nanoseconds: for the questions whether to stop.
[[nodiscard]] constexpr std::int64_t scan_step_work(std::int64_t states) { return 8 + states * states / 8; }

/// A message waits for the one before it, so what a step takes is the way from one to the other: short chains of sums,
/// and nothing else. Factors are formed of the terms for some steps ahead, and offsets and traces follow. Rows of few
/// states lie together in vectors, and vectors go side by side, as the processor works on the next one while a sum
/// waits, or share the matrix where that is large. A row that loses an entry, is in logarithms or lacks some of the
/// steps is then taken through them alone.
template <class Steps, class T>
class ScanRows {
 public:
  ScanRows(const PackedMatrix<T>& matrix, const ScanRun& run, std::byte* scratch)
      : matrix_(matrix), run_(run), steps_(matrix), states_(matrix.states()), width_(matrix.width()) {
    const std::int64_t part = scan_vectors * width_;
    T* to = reinterpret_cast<T*>(scratch);
    const auto take = [&](std::int64_t parts) { return std::exchange(to, to + parts * part); };
    messages_ = take(ahead_ + 1);
    formed_ = take(1);
    before_ = take(ahead_);
    after_ = take(ahead_);
    space_ = take(2);
    for (std::int64_t i = 0; i < most_rows; ++i) slot_[i] = in_vector_.vector(i) * width_ + in_vector_.place(i);
  }

  /// Rows that are run at once.
  [[nodiscard]] std::int64_t most() const { return at_once() * together_; }

  /// The rows from `first` on. False where the scan is to be given up.
  bool run(std::int64_t first, std::int64_t rows, base::Pace& pace) {
    known_.first = first;
    known_.rows = rows;
    known_.vectors = (rows + together_ - 1) / together_;
    stride_ = known_.vectors * width_;
    enter();
    for (std::int64_t s = 0; s < run_.steps; s += ahead_) {
      if (pace.stops(ahead_ * rows * scan_step_work(states_))) return false;
      const std::int64_t count = std::min(ahead_, run_.steps - s);
      known_.find_existing(s, count, s == 0 || count < ahead_);
      take(s, count);
      known_.add_offsets(count);
      const ScanTrace& trace = run_.trace;
      for (std::int64_t k = 0; k < count && trace.messages.data != nullptr; ++k) {
        trace.linear ? write<true>(k + 1, trace.messages, s + k) : write<false>(k + 1, trace.messages, s + k);
      }
      if (trace.offsets.data != nullptr) known_.write_offsets(1, count, trace.offsets, s);
      std::copy_n(messages_ + count * stride_, stride_, messages_);
      std::copy_n(known_.tops[count], scan_most_tops, known_.tops[0]);
      if (known_.any_in_logs) std::copy_n(known_.in_logs[count], rows, known_.in_logs[0]);
      std::copy_n(known_.offsets[count], rows, known_.offsets[0]);
    }
    write<false>(0, {.data = run_.messages, .row_stride = states_}, 0);
    known_.write_offsets(0, 1, {.data = run_.offset, .row_stride = 1}, 0);
    return true;
  }

 private:
  using V = GemmVec<T>;
  using Lost = ScanLost<T>;
  using Algebra = typename Steps::Algebra;
  using Walk = ScanWalk<Steps, T>;
  static constexpr std::int64_t most_rows = scan_most_tops, most_ahead = scan_most_ahead;
  // Each number of vectors is code of its own, 25 KB for all targets, which maxima of sums do not repay.
  static constexpr std::int64_t most_vectors = Steps::may_lose ? 4 : 1;
  // A constant where vectors have a fixed size.
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())); }

  /// Whether rows lie together in vectors, which takes several lanes.
  [[nodiscard]] bool shares() const { return HWY_MAX_BYTES > sizeof(double) && together_ > 1; }
  /// Vectors, or rows of more states, that go through steps at once.
  [[nodiscard]] std::int64_t at_once() const { return narrow_ ? 4 : scan_vectors; }

  void enter() {
    known_.ragged = false;
    std::fill_n(known_.tops[0], scan_most_tops, Steps::one);
    std::fill_n(known_.in_logs[0], (ahead_ + 1) * most_rows, false);
    known_.any_in_logs = false;
    std::fill_n(known_.offsets[0], most_rows, 0.0);
    std::fill_n(messages_, stride_, Steps::zero);
    // Beyond the states of a row there is nothing.
    if (shares()) std::fill_n(space_, ahead_ * lanes(), steps_.zero_term());
    for (std::int64_t i = 0; i < known_.rows; ++i) {
      const T* const given = static_cast<const T*>(run_.messages) + (known_.first + i) * states_;
      for (std::int64_t v = 0; v < states_; v += lanes()) {
        hn::StoreU(steps_.term(load_of_row(given, states_, v, steps_.zero_term())), d_, formed_ + v);
      }
      known_.offsets[0][i] = matrix_.sign() * run_.offset[known_.first + i] + settle(0, i, formed_);
    }
  }

  void take(std::int64_t s, std::int64_t count) {
    for (std::int64_t n = 0; n < known_.vectors; ++n) {
      shares() ? form_factors<true>(n, s, count) : form_factors<false>(n, s, count);
    }
    for (std::int64_t k = 0; k < count && run_.before.data == nullptr && run_.after.data == nullptr; ++k) {
      std::fill_n(known_.taken[k], known_.rows, 0.0);
    }
    const auto whole = [&](std::int64_t i) {
      return !known_.in_logs[0][i] && known_.end[i] - known_.begin[i] == count;
    };
    for (std::int64_t n = 0; n < known_.vectors; n += at_once()) {
      const std::int64_t vectors = std::min(at_once(), known_.vectors - n);
      const std::int64_t first = n * together_, last = std::min(first + vectors * together_, known_.rows);
      std::int64_t together = 0;
      for (std::int64_t i = first; i < last; ++i) {
        known_.lost[i] = !whole(i);
        together += whole(i) ? 1 : 0;
      }
      // Where a row has vectors of its own, fewer than fit side by side go faster one after the other.
      const bool fills = vectors == at_once() || shares() || !narrow_;
      if (together > 1 && fills) {
        take_steps(n, vectors, 0, count);
      } else {
        std::fill(known_.lost + first, known_.lost + last, true);
      }
      for (std::int64_t i = first; i < last; ++i) {
        if (known_.lost[i]) take_alone(i, s, count);
      }
    }
  }

  template <bool kLinear>
  HWY_NOINLINE void write(std::int64_t k, const SlicePlace& to, std::int64_t step) const {
    const bool side_by_side = to.row_offset == nullptr && to.row_stride == states_ && states_ == pitch_;
    for (std::int64_t n = 0; n < known_.vectors && shares(); ++n) {
      const V divisor = steps_.divisor(hn::LoadU(d_, known_.tops[k] + n * lanes()));
      const V x = steps_.template form<kLinear>(hn::LoadU(d_, messages_ + k * stride_ + n * width_), divisor,
                                                steps_.reciprocal(divisor));
      const std::int64_t first = n * together_, count = std::min(together_, known_.rows - first);
      if (side_by_side) {
        store_row(to.at<T>(step, known_.first + first), count * states_, [&](std::int64_t) HWY_ATTR { return x; });
        continue;
      }
      HWY_ALIGN T rows[PackedMatrix<T>::panel];
      hn::Store(x, d_, rows);
      with_copy_of<T>(states_, [&](const auto& copy) {
        for (std::int64_t i = 0; i < count; ++i) copy(to.at<T>(step, known_.first + first + i), rows + i * pitch_);
      });
    }
    for (std::int64_t i = 0; i < known_.rows; ++i) {
      if (!shares() || known_.in_logs[k][i]) write_row<kLinear>(k, i, to.at<T>(step, known_.first + i), states_);
    }
  }

  [[nodiscard]] T* message(std::int64_t k, std::int64_t i) const { return messages_ + k * stride_ + slot_[i]; }

  HWY_NOINLINE void take_alone(std::int64_t i, std::int64_t s, std::int64_t count) {
    const std::int64_t end = known_.end[i];
    std::int64_t k = 0;
    for (; k < known_.begin[i]; ++k) repeat(k, i);
    while (k < end) {
      if (!known_.in_logs[k][i]) k = take_steps(i, 0, k, end);
      if constexpr (Steps::may_lose) {
        if (k < end) step_in_logs(i, s, k++);
      }
    }
    for (; k < count; ++k) repeat(k, i);
  }

  template <bool kLinear>
  HWY_INLINE void write_row(std::int64_t k, std::int64_t i, T* to, std::int64_t count) const {
    const T* const from = message(k, i);
    if (HWY_UNLIKELY(known_.in_logs[k][i])) {
      return store_row(to, count, [&](std::int64_t v) HWY_ATTR {
        const V x = hn::LoadU(d_, from + v);
        return kLinear ? Exp(d_, x) : x;
      });
    }
    const V divisor = steps_.divisor(hn::Set(d_, known_.top(k, i)));
    const V reciprocal = steps_.reciprocal(divisor);
    store_row(to, count, [&](std::int64_t v) HWY_ATTR {
      return steps_.template form<kLinear>(hn::LoadU(d_, from + v), divisor, reciprocal);
    });
  }

  /// A message in logarithms becomes the row's, in real space if it is shallow. Returns what is taken out.
  double settle(std::int64_t k, std::int64_t i, T* logs) {
    std::fill_n(logs + states_, width_ - states_, -std::numeric_limits<T>::infinity());
    const Recentred<T> found = recentre(logs, states_);
    const bool is_zero = found.taken == -std::numeric_limits<T>::infinity();
    known_.set_top(k, i, is_zero ? Steps::zero : Steps::one);
    known_.in_logs[k][i] = Steps::may_lose && found.depth > RealSpaceDepth<T>::vector;
    known_.any_in_logs = known_.any_in_logs || known_.in_logs[k][i];
    for (std::int64_t v = 0; v < states_ && !known_.in_logs[k][i]; v += lanes()) {
      hn::StoreU(steps_.message(hn::LoadU(d_, logs + v)), d_, logs + v);
    }
    std::copy_n(logs, pitch_, message(k, i));
    return is_zero ? 0.0 : static_cast<double>(found.taken);
  }

  void repeat(std::int64_t k, std::int64_t i) {
    std::copy_n(message(k, i), pitch_, message(k + 1, i));
    known_.set_top(k + 1, i, known_.top(k, i));
    known_.in_logs[k + 1][i] = known_.in_logs[k][i];
  }

  void step_in_logs(std::int64_t i, std::int64_t s, std::int64_t k) {
    const hn::CappedTag<double, 1> d;
    const auto out = hn::Set(d, static_cast<double>(known_.top(k, i)));
    T *const logs = formed_, *const next = formed_ + width_, *const space = formed_ + 2 * width_;
    write_row<false>(k, i, logs, width_);
    std::fill(logs + states_, logs + width_, -std::numeric_limits<T>::infinity());
    const auto term = [&](const SliceTerm& slices, T* copy) -> const T* {
      if (slices.data == nullptr) return nullptr;
      return contiguous(slices.at<T>(s + k, known_.first + i), states_, slices.state_stride, copy);
    };
    const double taken = scan_in_logs(matrix_, logs, term(run_.before, space + width_),
                                      term(run_.after, space + 2 * width_), space, next);
    // The top's own part is added with the other rows'.
    known_.taken[k][i] =
        hn::GetLane(hn::Sub(Steps::log_of(d, out), Steps::taken(d, out))) + taken + settle(k + 1, i, next);
  }

  template <bool kTogether>
  void form_factors(std::int64_t n, std::int64_t s, std::int64_t count) {
    if (run_.before.data != nullptr) form_factors<false, kTogether>(run_.before, n, s, count, before_);
    if (run_.after.data != nullptr) form_factors<true, kTogether>(run_.after, n, s, count, after_);
  }

  /// Of a vector's rows in the steps that exist. kFinal: of what follows the matrix, with the shifts of its columns.
  template <bool kFinal, bool kTogether>
  HWY_NOINLINE void form_factors(const SliceTerm& slices, std::int64_t n, std::int64_t s, std::int64_t count, T* to) {
    const Steps steps = steps_;
    const RowsOfVector<T>& in_vector = in_vector_;
    const std::int64_t stride = stride_, step_stride = kTogether ? lanes() : slices.step_stride;
    const std::int64_t state_stride = slices.state_stride, together = together_, first = n * together;
    const std::int64_t states = kTogether ? lanes() : states_, end = kTogether ? count : known_.end[first];
    const T* const column_shift = matrix_.column_shift();
    const bool adds = kFinal && run_.before.data != nullptr;
    if (kTogether) {
      gather_terms(slices, states_, pitch_, known_.first + first, std::min(together, known_.rows - first), s,
                   known_.begin + first, known_.end + first, space_);
    }
    std::int64_t k = kTogether ? 0 : known_.begin[first];
    const T* from = kTogether ? space_ : slices.at<T>(s + k, known_.first + first);
    double* taken = &known_.taken[k][first];
    to += k * stride + n * width_;
    HWY_ALIGN T shifts[PackedMatrix<T>::panel];
    for (; k < end; ++k, from += step_stride, to += stride, taken += most_rows) {
      const T* const row = kTogether ? from : contiguous(from, states, state_stride, space_);
      const auto term = [&](std::int64_t v) HWY_ATTR {
        return steps.term(kTogether ? hn::LoadU(d_, row) : load_of_row(row, states, v, steps.zero_term()));
      };
      V top = term(0);
      for (std::int64_t v = lanes(); v < states; v += lanes()) top = hn::Max(top, term(v));
      top = kTogether ? in_vector.largest(top) : hn::MaxOfLanes(d_, top);
      const V shift = hn::IfThenElseZero(hn::Gt(top, hn::Set(d_, -std::numeric_limits<T>::infinity())), top);
      for (std::int64_t v = 0; v < states; v += lanes()) {
        const V column = kFinal ? hn::LoadU(d_, column_shift + v) : hn::Zero(d_);
        hn::StoreU(steps.factor(term(v), shift, column), d_, to + v);
      }
      if constexpr (kTogether) {
        const hn::CappedTag<double, 8> dd;
        hn::Store(in_vector.firsts(shift), d_, shifts);
        for (std::int64_t i = 0; i < together; i += static_cast<std::int64_t>(hn::Lanes(dd))) {
          const auto out = load_doubles(dd, shifts + i);
          hn::StoreU(adds ? hn::Add(hn::LoadU(dd, taken + i), out) : out, dd, taken + i);
        }
      } else {
        const auto out = static_cast<double>(hn::GetLane(shift));
        *taken = adds ? *taken + out : out;
      }
    }
  }

  /// So many vectors from `at` on go through steps k … end − 1, and their rows that lose an entry are noted. Or, where
  /// there are none, row `at` alone: returns the first step that has lost an entry, which, as those after it, is not
  /// done.
  std::int64_t take_steps(std::int64_t at, std::int64_t vectors, std::int64_t k, std::int64_t end) {
    if (!narrow_) return take_steps<0, 0>(at, vectors, k, end);
    const auto take = [&]<int kVectors>(std::integral_constant<int, kVectors>) {
      if (vectors == 0) return take_steps<kVectors, 1>(at, 0, k, end);
      if (kVectors < 0 && vectors <= 2) return take_steps<-1, 2>(at, vectors, k, end);
      return take_steps<kVectors, 4>(at, vectors, k, end);
    };
    if (shares()) return take(std::integral_constant<int, -1>());
    if constexpr (most_vectors > 1) {
      if (states_ > 3 * lanes()) return take(std::integral_constant<int, 4>());
      if (states_ > 2 * lanes()) return take(std::integral_constant<int, 3>());
      if (states_ > lanes()) return take(std::integral_constant<int, 2>());
    }
    return take(std::integral_constant<int, 1>());
  }

  [[nodiscard]] HWY_INLINE Walk walk(std::int64_t n, std::int64_t k) {
    const auto part = [&](T* parts) { return parts + k * stride_ + n * width_; };
    const bool before = run_.before.data != nullptr, after = run_.after.data != nullptr;
    return {steps_,
            in_vector_,
            matrix_.panels(),
            matrix_.least_sum(),
            states_,
            width_,
            stride_,
            after ? width_ : 0,
            after ? stride_ : 0,
            known_.tops[k] + (shares() ? n * lanes() : n),
            part(messages_),
            formed_,
            before ? part(before_) : nullptr,
            after ? part(after_) : matrix_.column_scale(),
            hn::Not(Walk::none())};
  }

  /// kVectors of states; −1: of one that rows share; or 0 for any number, where rows share the matrix. kRows: 1 alone,
  /// or 2 or 4 side by side, of which the last ones may be one and the same.
  template <int kVectors, int kRows>
  HWY_NOINLINE std::int64_t take_steps(std::int64_t first, std::int64_t rows, std::int64_t k, std::int64_t end) {
    constexpr bool kFull = kVectors > 0 && kRows > 1;  // rows of vectors of their own go side by side in fours alone
    const bool alone = !kFull && rows == 0;
    const std::int64_t last = kFull ? kRows - 1 : kRows == 1 || alone ? 0 : rows - 1;
    const std::int64_t n1 = std::min<std::int64_t>(1, last), n2 = std::min<std::int64_t>(2, last);
    Walk at = walk(alone ? first / together_ : first, k);
    if constexpr (kVectors < 0 && kRows == 1) {
      at.own = in_vector_.lanes_of(first % together_);
    }
    const auto top_of = [&](std::int64_t row) HWY_ATTR {
      return kVectors < 0 ? hn::LoadU(d_, at.tops + row * lanes()) : hn::Set(d_, at.tops[row]);
    };
    const auto message_of = [&](std::int64_t row) HWY_ATTR { return hn::LoadU(d_, at.message + row * width_); };
    V top0 = top_of(0), top1 = top_of(n1), top2 = top_of(n2), top3 = top_of(last);
    V m0 = message_of(0), m1 = message_of(n1), m2 = message_of(n2), m3 = message_of(last);
    Lost lost0 = Walk::none(), lost1 = lost0, lost2 = lost0, lost3 = lost0;
    for (; k < end; ++k) {
      if constexpr (kRows == 0) {
        const T* input = nullptr;
        for (std::int64_t row = last; row >= 0; --row) {
          lost0 = Walk::none();
          input = Walk::template form_input<0>(at, row, lost0);
          known_.note_lost(first + row, lost0);
        }
        rows_times_matrix<Algebra>(matrix_, input, at.message + at.stride, last + 1);
        for (std::int64_t row = 0; row <= last; ++row) {
          top0 = hn::Set(d_, at.tops[row]);
          if (!alone) lost0 = Walk::none();
          Walk::template step<0, false>(at, row, m0, top0, lost0);
          known_.note_lost(first + row, lost0);
        }
      } else {
        constexpr bool kAlone = kRows == 1;
        Walk::template step<kVectors, kAlone>(at, 0, m0, top0, lost0);
        if constexpr (kRows > 2) Walk::template step<kVectors, kAlone>(at, n1, m1, top1, lost1);
        if constexpr (kRows > 2) Walk::template step<kVectors, kAlone>(at, n2, m2, top2, lost2);
        if constexpr (kRows > 1) Walk::template step<kVectors, kAlone>(at, last, m3, top3, lost3);
      }
      if constexpr (kVectors < 0 && kRows == 1) lost0 = hn::And(lost0, at.own);
      if (Steps::may_lose && alone && HWY_UNLIKELY(!hn::AllFalse(d_, lost0))) break;
      at.go_on();
    }
    if constexpr (kRows > 1) {
      known_.note_lost(first * together_, lost0);
      known_.note_lost((first + n1) * together_, lost1);
      known_.note_lost((first + n2) * together_, lost2);
      known_.note_lost((first + last) * together_, lost3);
    }
    return k;
  }

  const PackedMatrix<T>& matrix_;
  const ScanRun& run_;
  const Steps steps_;
  const std::int64_t states_, width_;
  const GemmTag<T> d_{};
  const RowsOfVector<T> in_vector_{states_};
  const std::int64_t together_ = in_vector_.together(), ahead_ = scan_ahead(states_);
  const std::int64_t pitch_ = together_ > 1 ? in_vector_.pitch() : width_;  // of a row's message
  const bool narrow_ = states_ <= most_vectors * lanes();
  T *messages_, *formed_, *before_, *after_, *space_;
  std::int64_t stride_ = 0;       // from a step to the next
  std::int64_t slot_[most_rows];  // where a row's message is in a step

  ScanRecord<Steps, T> known_{matrix_, run_, in_vector_};
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
