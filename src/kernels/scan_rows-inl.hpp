// Takes rows through the steps of a scan, each lane of a vector being a state.
#if defined(PLATED_KERNELS_SCAN_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_ROWS_INL
#undef PLATED_KERNELS_SCAN_ROWS_INL
#else
#define PLATED_KERNELS_SCAN_ROWS_INL
#endif

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/watch.hpp"
#include "hwy/highway.h"
#include "kernels/scan.hpp"
#include "kernels/scan_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// About, in nanoseconds: for the questions whether to stop.
[[nodiscard]] constexpr std::int64_t scan_step_work(std::int64_t states) { return 8 + states * states / 8; }

template <class Steps, class T>
class ScanLanes;

/// A message waits for the one before it, so what a step takes is the way from one to the other: short chains of sums,
/// and nothing else. Factors are formed of the terms for some steps ahead, and offsets and traces follow. Rows go side
/// by side, as the processor works on the next one while a sum waits, or share the matrix where that is large. A row
/// that loses an entry, or is in logarithms, goes alone.
template <class Steps, class T>
class ScanRows {
 public:
  ScanRows(const PackedMatrix<T>& matrix, const ScanRun& run, std::byte* scratch)
      : matrix_(matrix), run_(run), steps_(matrix), states_(matrix.states()), width_(matrix.width()) {
    const std::int64_t part = scan_rows(states_) * width_;
    T* to = reinterpret_cast<T*>(scratch);
    const auto take = [&](std::int64_t parts) { return std::exchange(to, to + parts * part); };
    messages_ = take(ahead() + 1);
    formed_ = take(1);
    before_ = take(ahead());
    after_ = take(ahead());
    space_ = take(1);
  }

  /// Rows that go together.
  [[nodiscard]] std::int64_t most() const { return narrow_ ? 4 : scan_rows(states_); }

  /// The rows from `first` on, by a layout: this one or ScanLanes. False where the scan is to be given up.
  template <class Layout>
  bool run(Layout& layout, std::int64_t first, std::int64_t rows, base::Pace& pace) {
    first_ = first;
    rows_ = rows;
    stride_ = rows * width_;
    layout.enter();
    const std::int64_t ahead = layout.ahead();
    for (std::int64_t s = 0; s < run_.steps; s += ahead) {
      if (pace.stops(ahead * rows * scan_step_work(states_))) return false;
      const std::int64_t count = std::min(ahead, run_.steps - s);
      find_existing(s, count, s == 0 || count < ahead);
      layout.take(s, count);
      add_offsets(count);
      const ScanTrace& trace = run_.trace;
      for (std::int64_t k = 0; k < count && trace.messages.data != nullptr; ++k) {
        if (trace.linear) {
          layout.template write<true>(k + 1, trace.messages, s + k);
        } else {
          layout.template write<false>(k + 1, trace.messages, s + k);
        }
      }
      if (trace.offsets.data != nullptr) write_offsets(1, count, trace.offsets, s);
      layout.carry(count);
      std::copy_n(tops_[count], most_rows, tops_[0]);
      std::copy_n(in_logs_[count], most_rows, in_logs_[0]);
      std::copy_n(offsets_[count], most_rows, offsets_[0]);
    }
    layout.template write<false>(0, {.data = run_.messages, .row_stride = states_}, 0);
    write_offsets(0, 1, {.data = run_.offset, .row_stride = 1}, 0);
    return true;
  }

  // What a layout does.
  [[nodiscard]] std::int64_t ahead() const { return scan_ahead(states_); }

  void enter() {
    ragged_ = false;
    std::fill_n(&tops_[0][0], (ahead() + 1) * most_rows, Steps::one);
    std::fill_n(offsets_[0], most_rows, 0.0);
    for (std::int64_t i = 0; i < rows_; ++i) {
      const T* const given = static_cast<const T*>(run_.messages) + (first_ + i) * states_;
      T* const to = message(0, i);
      for (std::int64_t v = 0; v < states_; v += lanes()) hn::StoreU(load_term(given, v), d_, to + v);
      offsets_[0][i] = matrix_.sign() * run_.offset[first_ + i] + settle(0, i);
    }
  }

  void take(std::int64_t s, std::int64_t count) {
    const auto whole = [&](std::int64_t i) { return !in_logs_[0][i] && end_[i] - begin_[i] == count; };
    for (std::int64_t i = 0, next = 0; i < rows_; i = next) {
      while (next < std::min(i + most(), rows_) && whole(next)) ++next;
      if (next - i == most() || (!narrow_ && next - i > 1)) {
        for (std::int64_t row = i; row < next; ++row) form_factors(row, s, 0);
        const std::int64_t done = take_steps(i, next - i, 0, count);
        for (std::int64_t row = i; row < next && done < count; ++row) take_alone(row, s, done, count, true);
      } else {
        next = i + 1;
        take_alone(i, s, 0, count, false);
      }
    }
  }

  template <bool kLinear>
  void write(std::int64_t k, const SlicePlace& to, std::int64_t step) const {
    for (std::int64_t i = 0; i < rows_; ++i) write_row<kLinear>(k, i, to.at<T>(step, first_ + i), states_);
  }

  void carry(std::int64_t count) { std::copy_n(message(count, 0), rows_ * width_, message(0, 0)); }

 private:
  friend class ScanLanes<Steps, T>;
  using V = GemmVec<T>;
  using Lost = ScanLost<T>;
  using Algebra = typename Steps::Algebra;
  using Walk = ScanWalk<Steps, T>;
  static constexpr std::int64_t most_rows = scan_most_rows, most_ahead = scan_most_ahead;
  // Each number of vectors is code of its own, 25 KB for all targets, which maxima of sums do not repay.
  static constexpr std::int64_t most_vectors = Steps::may_lose ? 4 : 1;
  // A constant where vectors have a fixed size.
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())); }

  [[nodiscard]] T* message(std::int64_t k, std::int64_t i) const { return messages_ + k * stride_ + i * width_; }

  /// Row i from step k on. `formed`: whether its factors are there.
  HWY_NOINLINE void take_alone(std::int64_t i, std::int64_t s, std::int64_t k, std::int64_t count, bool formed) {
    const std::int64_t end = end_[i];
    for (; k < begin_[i]; ++k) repeat(k, i);
    while (k < end) {
      if (!in_logs_[k][i]) {
        if (!formed) form_factors(i, s, k);
        formed = true;
        k = take_steps(i, 1, k, end);
      }
      if constexpr (Steps::may_lose) {
        if (k < end) step_in_logs(i, s, k++);
      }
    }
    for (; k < count; ++k) repeat(k, i);
  }

  template <bool kLinear>
  HWY_INLINE void write_row(std::int64_t k, std::int64_t i, T* to, std::int64_t count) const {
    const T* const from = message(k, i);
    if (HWY_UNLIKELY(in_logs_[k][i])) {
      return store_row(to, count, [&](std::int64_t v) HWY_ATTR {
        const V x = hn::LoadU(d_, from + v);
        return kLinear ? Exp(d_, x) : x;
      });
    }
    const V divisor = steps_.divisor(hn::Set(d_, tops_[k][i]));
    const V reciprocal = steps_.reciprocal(divisor);
    store_row(to, count, [&](std::int64_t v) HWY_ATTR {
      return steps_.template form<kLinear>(hn::LoadU(d_, from + v), divisor, reciprocal);
    });
  }

  [[nodiscard]] HWY_INLINE V load_term(const T* term, std::int64_t at) const {
    return steps_.term(load_of_row(term, states_, at, steps_.zero_term()));
  }
  [[nodiscard]] T* part(T* parts, std::int64_t k, std::int64_t i) const { return parts + k * stride_ + i * width_; }

  void find_existing(std::int64_t s, std::int64_t count, bool anew) {
    std::fill_n(in_logs_[1], count * most_rows, false);
    if (run_.lengths == nullptr && !anew) return;
    ragged_ = false;
    for (std::int64_t i = 0; i < rows_; ++i) {
      // Slices that exist are the first ones, or, backwards in time, the last ones.
      std::int64_t begin = 0, end = count;
      while (begin < end && !run_.exists(s + begin, first_ + i)) ++begin;
      while (begin < end && !run_.exists(s + end - 1, first_ + i)) --end;
      begin_[i] = begin;
      end_[i] = end;
      ragged_ = ragged_ || end - begin < count;
    }
  }

  /// A message in logarithms becomes the row's, in real space if it is shallow. Returns what is taken out.
  double settle(std::int64_t k, std::int64_t i) {
    T* const x = message(k, i);
    const Recentred<T> found = recentre(x, states_);
    const bool is_zero = found.taken == -std::numeric_limits<T>::infinity();
    tops_[k][i] = is_zero ? Steps::zero : Steps::one;
    in_logs_[k][i] = Steps::may_lose && found.depth > RealSpaceDepth<T>::vector;
    for (std::int64_t v = 0; v < states_ && !in_logs_[k][i]; v += lanes()) {
      hn::StoreU(steps_.message(hn::LoadU(d_, x + v)), d_, x + v);
    }
    return is_zero ? 0.0 : static_cast<double>(found.taken);
  }

  void repeat(std::int64_t k, std::int64_t i) {
    std::copy_n(message(k, i), width_, message(k + 1, i));
    tops_[k + 1][i] = tops_[k][i];
    in_logs_[k + 1][i] = in_logs_[k][i];
  }

  void step_in_logs(std::int64_t i, std::int64_t s, std::int64_t k) {
    const hn::CappedTag<double, 1> d;
    const auto top = hn::Set(d, static_cast<double>(tops_[k][i]));
    T* const logs = part(formed_, 0, i);
    write_row<false>(k, i, logs, width_);
    const auto term = [&](const SliceTerm& slices, T* copy) -> const T* {
      if (slices.data == nullptr) return nullptr;
      return contiguous(slices.at<T>(s + k, first_ + i), states_, slices.state_stride, copy);
    };
    const double taken = scan_in_logs(matrix_, logs, term(run_.before, space_ + width_),
                                      term(run_.after, space_ + 2 * width_), space_, message(k + 1, i));
    // The top's own part is added with the other rows'.
    taken_[k][i] = hn::GetLane(hn::Sub(Steps::log_of(d, top), Steps::taken(d, top))) + taken + settle(k + 1, i);
  }

  /// Of row i's steps from k on that exist.
  void form_factors(std::int64_t i, std::int64_t s, std::int64_t k) {
    k = std::max(k, begin_[i]);
    if (run_.before.data != nullptr) form_factors<false>(run_.before, i, s, k, part(before_, k, i));
    if (run_.after.data != nullptr) form_factors<true>(run_.after, i, s, k, part(after_, k, i));
    if (run_.before.data != nullptr || run_.after.data != nullptr) return;
    for (; k < end_[i]; ++k) taken_[k][i] = 0.0;
  }

  /// kFinal: of what follows the matrix, with the shifts of its columns.
  template <bool kFinal>
  HWY_NOINLINE void form_factors(const SliceTerm& slices, std::int64_t i, std::int64_t s, std::int64_t k, T* to) {
    const Steps steps = steps_;
    const std::int64_t states = states_, stride = stride_, step_stride = slices.step_stride, end = end_[i];
    const std::int64_t state_stride = slices.state_stride;
    const T* const column_shift = matrix_.column_shift();
    const bool adds = kFinal && run_.before.data != nullptr;
    double* taken = &taken_[k][i];
    const T* from = slices.at<T>(s + k, first_ + i);
    for (; k < end; ++k, from += step_stride, to += stride, taken += most_rows) {
      const T* const row = contiguous(from, states, state_stride, space_);
      const auto term = [&](std::int64_t v)
                            HWY_ATTR { return steps.term(load_of_row(row, states, v, steps.zero_term())); };
      V top = term(0);
      for (std::int64_t v = lanes(); v < states; v += lanes()) top = hn::Max(top, term(v));
      top = hn::MaxOfLanes(d_, top);
      const V shift = hn::IfThenElseZero(hn::Gt(top, hn::Set(d_, -std::numeric_limits<T>::infinity())), top);
      for (std::int64_t v = 0; v < states; v += lanes()) {
        const V column = kFinal ? hn::LoadU(d_, column_shift + v) : hn::Zero(d_);
        hn::StoreU(steps.factor(term(v), shift, column), d_, to + v);
      }
      const auto out = static_cast<double>(hn::GetLane(shift));
      *taken = adds ? *taken + out : out;
    }
  }

  /// So many rows from row i on through steps k … end − 1. Returns the first step that has lost an entry: it, and those
  /// after it, are not done.
  std::int64_t take_steps(std::int64_t i, std::int64_t rows, std::int64_t k, std::int64_t end) {
    if (!narrow_) return take_steps<0, 0>(i, rows, k, end);
    const auto take = [&]<int kVectors>(std::integral_constant<int, kVectors>) {
      return rows == 1 ? take_steps<kVectors, 1>(i, 1, k, end) : take_steps<kVectors, 4>(i, 4, k, end);
    };
    if constexpr (most_vectors > 1) {
      if (states_ > 3 * lanes()) return take(std::integral_constant<int, 4>());
      if (states_ > 2 * lanes()) return take(std::integral_constant<int, 3>());
      if (states_ > lanes()) return take(std::integral_constant<int, 2>());
    }
    return take(std::integral_constant<int, 1>());
  }

  [[nodiscard]] Walk walk(std::int64_t i, std::int64_t k) {
    const bool before = run_.before.data != nullptr, after = run_.after.data != nullptr;
    return {steps_,
            matrix_.panels(),
            matrix_.least_sum(),
            states_,
            width_,
            stride_,
            after ? width_ : 0,
            after ? stride_ : 0,
            &tops_[k][i],
            message(k, i),
            part(formed_, 0, i),
            before ? part(before_, k, i) : nullptr,
            after ? part(after_, k, i) : matrix_.column_scale()};
  }

  /// kVectors of states, kRows side by side; or 0 for any number, where rows share the matrix.
  template <int kVectors, int kRows>
  HWY_NOINLINE std::int64_t take_steps(std::int64_t i, std::int64_t rows, std::int64_t k, std::int64_t end) {
    Walk at = walk(i, k);
    const auto top_of = [&](int row) HWY_ATTR { return hn::Set(d_, at.tops[row < kRows ? row : 0]); };
    V top0 = top_of(0), top1 = top_of(1), top2 = top_of(2), top3 = top_of(3);
    for (; k < end; ++k) {
      Lost lost = Walk::none();
      if constexpr (kRows == 0) {
        const T* input = nullptr;
        for (std::int64_t row = rows; row-- > 0;) input = Walk::template form_input<0>(at, row, lost);
        rows_times_matrix<Algebra>(matrix_, input, at.message + at.stride, rows);
        for (std::int64_t row = 0; row < rows; ++row) {
          top0 = hn::Set(d_, at.tops[row]);
          Walk::template step<0>(at, row, top0, lost);
        }
      } else {
        Walk::template step<kVectors>(at, 0, top0, lost);
        if constexpr (kRows > 1) Walk::template step<kVectors>(at, 1, top1, lost);
        if constexpr (kRows > 2) Walk::template step<kVectors>(at, 2, top2, lost);
        if constexpr (kRows > 3) Walk::template step<kVectors>(at, 3, top3, lost);
      }
      if (Steps::may_lose && HWY_UNLIKELY(!hn::AllFalse(d_, lost))) break;
      at.tops += most_rows;
      at.message += at.stride;
      if (at.before != nullptr) at.before += at.stride;
      at.after += at.after_stride;
    }
    return k;
  }

  /// Adds up what the steps have taken out.
  HWY_NOINLINE void add_offsets(std::int64_t count) {
    const hn::CappedTag<double, 8> d;
    const hn::RebindToSigned<decltype(d)> di;
    const auto shift = hn::Set(d, matrix_.shift());
    for (std::int64_t i = 0; i < rows_; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      auto offset = hn::LoadU(d, offsets_[0] + i);
      for (std::int64_t k = 0; k < count; ++k) {
        const auto top = Steps::taken(d, load_doubles(d, tops_[k] + i));
        const auto next = hn::Add(offset, hn::Add(hn::Add(hn::LoadU(d, taken_[k] + i), top), shift));
        const auto step = hn::Set(di, k);
        const auto exists = hn::AndNot(hn::Lt(step, hn::LoadU(di, begin_ + i)), hn::Lt(step, hn::LoadU(di, end_ + i)));
        offset = ragged_ ? hn::IfThenElse(hn::RebindMask(d, exists), next, offset) : next;
        hn::StoreU(offset, d, offsets_[k + 1] + i);
      }
    }
  }

  /// Of the messages k … k + count − 1, to a step's place and those of the next ones.
  HWY_NOINLINE void write_offsets(std::int64_t k, std::int64_t count, const SlicePlace& to, std::int64_t step) const {
    const hn::CappedTag<double, 8> d;
    const std::int64_t rows = rows_, numbers = count * rows;
    alignas(64) double logs[most_ahead * most_rows];
    for (std::int64_t n = 0; n < count; ++n) {
      for (std::int64_t i = 0; i < rows; ++i) logs[n * rows + i] = static_cast<double>(tops_[k + n][i]);
    }
    for (std::int64_t n = 0; n < numbers; n += static_cast<std::int64_t>(hn::Lanes(d))) {
      hn::Store(Steps::log_of(d, hn::Load(d, logs + n)), d, logs + n);
    }
    const auto sign = static_cast<double>(matrix_.sign());
    for (std::int64_t n = 0; n < count; ++n) {
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t row = first_ + i;
        const double offset = sign * (offsets_[k + n][i] + logs[n * rows + i]);
        *to.at<double>(step + n, row) = tops_[k + n][i] > Steps::zero ? offset : run_.offset[row];
      }
    }
  }

  const PackedMatrix<T>& matrix_;
  const ScanRun& run_;
  const Steps steps_;
  const std::int64_t states_, width_;
  const GemmTag<T> d_{};
  const bool narrow_ = states_ <= most_vectors * lanes();
  T *messages_, *formed_, *before_, *after_, *space_;
  std::int64_t first_ = 0, rows_ = 0, stride_ = 0;  // of the run's rows; from a step to the next

  // What is known of each row after each step, which are counted from 0, and before them, at 0. Vectors may read and
  // write beyond the last row.
  alignas(64) T tops_[most_ahead + 1][most_rows];          // largest entries of messages; one where these are in logs
  bool in_logs_[most_ahead + 1][most_rows];                // messages that real space cannot hold
  alignas(64) double offsets_[most_ahead + 1][most_rows];  // of the messages, but for their largest entries
  alignas(64) double taken_[most_ahead][most_rows];        // by a step, out of its terms
  std::int64_t begin_[most_rows], end_[most_rows];         // the steps that exist
  bool ragged_ = false;                                    // some of them do not
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
