// Takes rows whose states fill a few vectors through the steps of a scan.
#if defined(PLATED_KERNELS_SCAN_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_VECTORS_INL
#undef PLATED_KERNELS_SCAN_VECTORS_INL
#else
#define PLATED_KERNELS_SCAN_VECTORS_INL
#endif

#include <algorithm>
#include <cstdint>

#include "base/watch.hpp"
#include "hwy/highway.h"
#include "kernels/scan_lane_terms-inl.hpp"
#include "kernels/scan_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// A message waits for the one before it, so what a step takes is the way from one to the other: short chains of sums,
/// and nothing else. Exponentials of terms are taken for `ahead` steps before these, and offsets and traces follow
/// them. Rows go side by side, as the processor works on the next one while a sum waits. Rows in logarithms, or that
/// lose an entry, go through the steps alone, as a block of one row.
template <class Steps, class T, int kVectors>
class ScanVectors {
 public:
  static constexpr std::int64_t most_rows = 4;

  ScanVectors(const PackedMatrix<T>& matrix, const ScanRun& run, const ScanBlocks<Steps, T>& blocks)
      : matrix_(matrix), run_(run), blocks_(blocks), steps_(blocks.steps()), states_(matrix.states()) {}

  /// At most most_rows. False where the scan is to be given up.
  bool run(std::int64_t first, std::int64_t rows, base::Pace& pace) {
    blocks_.clear(1);
    for (std::int64_t i = 0; i < rows; ++i) enter(rows_[i], first + i);
    for (std::int64_t s = 0; s < run_.steps; s += ahead) {
      if (pace.stops(ahead * rows * scan_step_work(states_))) return false;
      const std::int64_t count = std::min(ahead, run_.steps - s);
      bool together = rows == most_rows;
      for (std::int64_t i = 0; i < rows; ++i) {
        prepare(rows_[i], s, count);
        together = together && rows_[i].end - rows_[i].begin == count;
      }
      if (together) {
        take_steps<most_rows>(rows_, 0, count);
      } else {
        for (std::int64_t i = 0; i < rows; ++i) take_steps<1>(rows_ + i, rows_[i].begin, rows_[i].end);
      }
      for (std::int64_t i = 0; i < rows; ++i) finish(rows_[i], s, count);
    }
    for (std::int64_t i = 0; i < rows; ++i) leave(rows_[i]);
    return true;
  }

 private:
  using V = GemmVec<T>;
  using Algebra = typename Steps::Algebra;
  static constexpr std::int64_t ahead = LaneLayout<T>::ahead;
  static constexpr std::int64_t most_width = kVectors * PackedMatrix<T>::panel;
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())); }

  struct Row {
    alignas(64) T history[(ahead + 1) * most_width];  // the message that the steps start from, and after each of them
    alignas(64) T before[ahead * most_width];         // factors
    alignas(64) T after[ahead * most_width];
    alignas(64) T tops[2 * ahead + 2];  // largest entries of the history
    alignas(64) T reciprocals[ahead + PackedMatrix<T>::panel];
    alignas(64) T logs[most_width];
    T before_shift[ahead], after_shift[ahead];
    std::int64_t index;       // of the run's rows
    std::int64_t begin, end;  // steps that exist
    bool alone, lost;
    ScanRow<T> own;  // its offset and exponent, and all of it where it is alone
  };

  void enter(Row& row, std::int64_t index) const {
    row.index = index;
    row.own = {};
    row.own.logs = row.logs;
    std::fill_n(row.history, most_width, Steps::zero);
    std::fill_n(row.logs, most_width, Steps::zero);
    std::fill_n(row.tops, 2 * ahead + 2, T{1});
    if (run_.after.data == nullptr) {
      std::fill_n(row.after_shift, ahead, T{0});
      for (std::int64_t k = 0; k < ahead; ++k) {
        for (int j = 0; j < kVectors; ++j) {
          hn::Store(steps_.plain_factors(j * lanes()), d_, row.after + k * most_width + j * lanes());
        }
      }
    }
    blocks_.enter(row.own, 0, index);
    take_back(row);
  }

  /// What comes of the steps alone is what the next ones start from; the lanes of a row in logarithms are zero.
  void take_back(Row& row) const {
    row.alone = row.own.in_logs;
    for (std::int64_t b = 0; b < states_; ++b) row.history[b] = row.alone ? Steps::zero : row.own.message[b];
    row.tops[0] = row.alone ? Steps::zero : row.own.top;
  }

  HWY_INLINE void prepare(Row& row, std::int64_t s, std::int64_t count) {
    row.begin = 0;
    row.end = row.alone ? 0 : count;
    row.lost = false;
    // Slices that exist are the first ones, or, backwards in time, the last ones.
    while (row.begin < row.end && !run_.exists(s + row.begin, row.index)) ++row.begin;
    while (row.begin < row.end && !run_.exists(s + row.end - 1, row.index)) --row.end;
    if (row.begin > 0) repeat(row.history, row.tops, row.begin);
    if (run_.before.data != nullptr) form_factors<false>(run_.before, row, s, row.before, row.before_shift);
    if (run_.after.data != nullptr) form_factors<true>(run_.after, row, s, row.after, row.after_shift);
  }

  /// to ← the factors of the steps that exist. kFinal: of what follows the matrix, with the shifts of its columns.
  template <bool kFinal>
  HWY_NOINLINE void form_factors(const SliceTerm& slices, const Row& row, std::int64_t s, T* HWY_RESTRICT to,
                                 T* HWY_RESTRICT shifts) {
    for (std::int64_t k = row.begin; k < row.end; ++k) {
      T* const place = to + k * most_width;
      const auto terms =
          steps_.term_of(contiguous(slices.at<T>(s + k, row.index), states_, slices.state_stride, copy_));
      shifts[k] = terms.shift();
      const V shift = hn::Set(d_, shifts[k]);
      for (int j = 0; j < kVectors; ++j) {
        const std::int64_t v = j * lanes();
        const V column_shift = kFinal ? hn::LoadU(d_, matrix_.column_shift() + v) : hn::Zero(d_);
        hn::Store(steps_.factor(terms.load(v), shift, column_shift), d_, place + v);
      }
    }
  }

  /// kRows rows go through steps begin … end − 1.
  template <int kRows>
  HWY_NOINLINE void take_steps(Row* rows, std::int64_t begin, std::int64_t end) {
    const auto top_of = [&](int i) HWY_ATTR { return hn::Set(d_, rows[i < kRows ? i : 0].tops[begin]); };
    V top0 = top_of(0), top1 = top_of(1), top2 = top_of(2), top3 = top_of(3);
    auto lost0 = steps_.none_lost(), lost1 = lost0, lost2 = lost0, lost3 = lost0;
    for (std::int64_t k = begin; k < end; ++k) {
      step(rows[0], k, top0, lost0);
      if constexpr (kRows > 1) step(rows[1], k, top1, lost1);
      if constexpr (kRows > 2) step(rows[2], k, top2, lost2);
      if constexpr (kRows > 3) step(rows[3], k, top3, lost3);
    }
    rows[0].lost = steps_.any(lost0);
    if constexpr (kRows > 1) rows[1].lost = steps_.any(lost1);
    if constexpr (kRows > 2) rows[2].lost = steps_.any(lost2);
    if constexpr (kRows > 3) rows[3].lost = steps_.any(lost3);
  }

  /// A message and its largest entry stay as they are through so many steps.
  static HWY_NOINLINE void repeat(T* message, T* top, std::int64_t steps) {
    for (std::int64_t k = 1; k <= steps; ++k) {
      std::copy_n(message, most_width, message + k * most_width);
      top[k] = *top;
    }
  }

  template <class Lost>
  HWY_INLINE void step(Row& row, std::int64_t k, V& top, Lost& lost) {
    T* const from = row.history + k * most_width;
    T* const to = from + most_width;
    const T* input = from;
    const V none = hn::Zero(d_);
    const V normaliser = steps_.normaliser(top);
    auto now = steps_.none_lost();
    if (run_.before.data != nullptr) {
      T* const formed = row.before + k * most_width;
      for (int j = 0; j < kVectors; ++j) {
        const std::int64_t v = j * lanes();
        hn::Store(steps_.combine(hn::Load(d_, from + v), hn::Load(d_, formed + v), steps_.neutral(), none, now), d_,
                  formed + v);
      }
      input = formed;
    }
    V next = hn::Set(d_, Steps::zero);
    const T* const factors = row.after + k * most_width;
    const auto put = [&](std::int64_t v, V sum) HWY_ATTR {
      const V y =
          steps_.combine(sum, hn::Load(d_, factors + v), normaliser, hn::LoadU(d_, matrix_.least_sum() + v), now);
      next = hn::Max(next, y);
      hn::Store(y, d_, to + v);
    };
    multiply<(kVectors > 1)>(input, 0, put);
    if constexpr (kVectors > 2) multiply<(kVectors > 3)>(input, 2 * lanes(), put);
    lost = steps_.either(lost, steps_.only(now, hn::Gt(top, hn::Set(d_, Steps::zero))));
    top = hn::MaxOfLanes(d_, next);
    row.tops[k + 1] = hn::GetLane(top);
  }

  /// A row times one or two vectors of the matrix's columns: four sums of every fourth term, as ScanLanes forms them.
  template <bool kTwo, class Put>
  HWY_INLINE void multiply(const T* row, std::int64_t column, const Put& put) const {
    constexpr std::int64_t panel = PackedMatrix<T>::panel;
    const T* const w = packed_column(matrix_, column);
    const T* const u = kTwo ? packed_column(matrix_, column + lanes()) : w;
    const V zero = hn::Set(d_, Algebra::zero());
    V a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero;
    const auto add = [&](std::int64_t k, V& a, V& b) HWY_ATTR {
      const V x = hn::Set(d_, row[k]);
      a = Algebra::multiply_add(x, hn::Load(d_, w + k * panel), a);
      if constexpr (kTwo) b = Algebra::multiply_add(x, hn::Load(d_, u + k * panel), b);
    };
    std::int64_t k = 0;
    for (; k + 4 <= states_; k += 4) add(k, a0, b0), add(k + 1, a1, b1), add(k + 2, a2, b2), add(k + 3, a3, b3);
    if (k < states_) add(k, a0, b0);
    if (k + 1 < states_) add(k + 1, a1, b1);
    if (k + 2 < states_) add(k + 2, a2, b2);
    put(column, Algebra::add(Algebra::add(a0, a1), Algebra::add(a2, a3)));
    if constexpr (kTwo) put(column + lanes(), Algebra::add(Algebra::add(b0, b1), Algebra::add(b2, b3)));
  }

  HWY_NOINLINE void finish(Row& row, std::int64_t s, std::int64_t count) {
    if (HWY_UNLIKELY(row.alone || row.lost)) return step_alone(row, s, count);
    if (row.end < count) repeat(row.history + row.end * most_width, row.tops + row.end, count - row.end);
    const ScanTrace& trace = run_.trace;
    const bool traces = trace.messages.data != nullptr, traces_offsets = traces && trace.offsets.data != nullptr;
    if (traces && trace.linear) form_reciprocals(row, count);
    alignas(64) double logs[2 * ahead];
    if (traces_offsets) Steps::log_tops(row.tops + 1, count, logs);
    // Not in the row: what is traced might be the same memory, for all that the compiler knows.
    double offset = row.own.offset;
    std::int64_t exponent = row.own.exponent;
    for (std::int64_t k = 0; k < count; ++k) {
      if (k >= row.begin && k < row.end) {
        if (run_.before.data != nullptr) offset += static_cast<double>(row.before_shift[k]);
        offset += (static_cast<double>(row.after_shift[k]) + steps_.taken(row.tops[k])) + matrix_.shift();
        exponent += steps_.exponent_of(row.tops[k]);
      }
      if (!traces) continue;
      trace_message(row, k + 1, trace.messages.at<T>(s + k, row.index));
      if (!traces_offsets) continue;
      *trace.offsets.at<double>(s + k, row.index) =
          row.tops[k + 1] > Steps::zero ? steps_.total(offset, exponent, logs[k]) : run_.offset[row.index];
    }
    row.own.offset = offset;
    row.own.exponent = exponent;
    std::copy_n(row.history + count * most_width, most_width, row.history);
    row.tops[0] = row.tops[count];
  }

  HWY_INLINE void form_reciprocals(Row& row, std::int64_t count) const {
    for (std::int64_t k = 0; k < count; k += lanes()) {
      const V tops = load_of_row(row.tops + 1, count, k, T{1});
      hn::Store(steps_.reciprocal(steps_.divisor(tops)), d_, row.reciprocals + k);
    }
  }

  HWY_INLINE void trace_message(const Row& row, std::int64_t k, T* to) const {
    const T* const message = row.history + k * most_width;
    const V top = steps_.divisor(hn::Set(d_, row.tops[k]));
    if (run_.trace.linear) {
      const V reciprocal = hn::Set(d_, row.reciprocals[k - 1]);
      store_row(to, states_, [&](std::int64_t v) HWY_ATTR {
        return steps_.linear_form(hn::Load(d_, message + v), top, reciprocal);
      });
    } else {
      store_row(to, states_, [&](std::int64_t v) HWY_ATTR { return steps_.form(hn::Load(d_, message + v), top); });
    }
  }

  HWY_NOINLINE void step_alone(Row& row, std::int64_t s, std::int64_t count) const {
    if (!row.alone) row.own.top = row.tops[0];
    row.own.message = blocks_.first_message();
    std::fill_n(row.own.message, matrix_.width(), Steps::zero);
    std::copy_n(row.history, states_, row.own.message);
    blocks_.advance(&row.own, row.index, 1, s, s + count);
    take_back(row);
  }

  void leave(Row& row) {
    T* const message = static_cast<T*>(run_.messages) + row.index * states_;
    if (row.alone) {
      steps_.leave(row.own, false, message);
      run_.offset[row.index] = steps_.leave_offset(row.own, run_.offset[row.index]);
      return;
    }
    const V top = steps_.divisor(hn::Set(d_, row.tops[0]));
    store_row(message, states_,
              [&](std::int64_t v) HWY_ATTR { return steps_.form(hn::Load(d_, row.history + v), top); });
    alignas(64) double logs[2 * ahead];
    Steps::log_tops(row.tops, 1, logs);
    if (row.tops[0] > Steps::zero) run_.offset[row.index] = steps_.total(row.own.offset, row.own.exponent, logs[0]);
  }

  const PackedMatrix<T>& matrix_;
  const ScanRun& run_;
  const ScanBlocks<Steps, T>& blocks_;
  const Steps& steps_;
  const std::int64_t states_;
  const GemmTag<T> d_{};
  T copy_[most_width];  // of a term whose states are apart
  Row rows_[most_rows];
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
