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

#include "base/watch.hpp"
#include "hwy/highway.h"
#include "kernels/scan_lane_terms-inl.hpp"
#include "kernels/scan_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// Whether lanes beat vectors of states for so many rows, measured.
[[nodiscard]] inline bool lanes_pay(std::int64_t states, std::int64_t rows) {
  return states <= 2 || (states <= scan_lane_states && 2 * rows >= states);
}

/// The same arithmetic in the same order as ScanBlocks, hence the same bits. Steps are taken `ahead` at a time. Rows
/// that lanes cannot take through them (those of LogSteps in logarithms) go through them alone, as a block of one row.
template <class Steps, class T>
class ScanLanes {
 public:
  ScanLanes(const PackedMatrix<T>& matrix, const ScanRun& run, const ScanBlocks<Steps, T>& blocks)
      : matrix_(matrix), run_(run), blocks_(blocks), steps_(blocks.steps()), states_(matrix.states()) {}

  /// At most as many rows as there are lanes. False where the scan is to be given up.
  bool run(std::int64_t first, std::int64_t rows, base::Pace& pace) {
    first_ = first;
    rows_ = rows;
    enter();
    for (std::int64_t s = 0; s < run_.steps; s += ahead) {
      if (pace.stops(ahead * rows_ * scan_step_work(states_))) return false;
      const std::int64_t count = std::min(ahead, run_.steps - s);
      states_ == 2 ? take_steps<2>(s, count) : states_ == 4 ? take_steps<4>(s, count) : take_steps<0>(s, count);
      if (any_lost_ || any_alone_) prepare_alone();
      account_for(s, count);
      if (any_lost_ || any_alone_) step_alone(s, count);
      last_ = count;
    }
    write_messages(false, last_, {.data = run_.messages, .row_stride = states_}, 0);
    find_offsets(tops_[last_]);
    std::copy_n(offsets_, rows_, run_.offset + first_);
    for (std::int64_t i = 0; i < rows_; ++i) {
      if (!alone_[i]) continue;
      steps_.leave(row_[i], false, static_cast<T*>(run_.messages) + (first_ + i) * states_);
      run_.offset[first_ + i] = steps_.leave_offset(row_[i], run_.offset[first_ + i]);
    }
    return true;
  }

 private:
  using V = GemmVec<T>;
  using Algebra = typename Steps::Algebra;
  using Layout = LaneLayout<T>;
  static constexpr std::int64_t most_lanes = Layout::most_lanes;
  static constexpr std::int64_t most_entries = Layout::most_entries;
  static constexpr std::int64_t ahead = Layout::ahead;

  // A constant where vectors have a fixed size.
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())); }

  void enter() {
    blocks_.clear(1);
    std::fill_n(history_, most_entries, Steps::zero);
    std::fill_n(tops_[0], most_lanes, Steps::zero);
    // Lanes without a row, and slices that do not exist, hold numbers, too.
    if (states_ == 2 || states_ == 4) {
      std::fill_n(staging_, ahead * most_lanes * states_, T{0});
    } else {
      if (run_.before.data != nullptr) std::fill_n(before_, ahead * most_entries, T{0});
      if (run_.after.data != nullptr) std::fill_n(after_, ahead * most_entries, T{0});
    }
    shortest_ = std::numeric_limits<std::int64_t>::max();
    if (run_.lengths != nullptr) shortest_ = *std::min_element(run_.lengths + first_, run_.lengths + first_ + rows_);
    last_ = 0;
    any_alone_ = false;
    for (std::int64_t i = 0; i < rows_; ++i) {
      row_[i] = {};
      row_[i].logs = logs_[i];
      blocks_.enter(row_[i], 0, first_ + i);
      take_back(i, history_, tops_[0]);
    }
  }

  /// Lanes go through steps s … s + count − 1. Of the k-th, tops_[k], before_shift_[k] and after_shift_[k] are left as
  /// what it takes out, and its messages in history_ at k + 1; what they start from is at 0. kStates: 0, or the number
  /// of states where messages stay in registers, as going through memory would cost more than all the arithmetic.
  template <int kStates>
  HWY_NOINLINE void take_steps(std::int64_t s, std::int64_t count) {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    const bool has_before = run_.before.data != nullptr, has_after = run_.after.data != nullptr;
    if (has_before) gather<kStates>(run_.before, s, count, before_);
    if (has_after) gather<kStates>(run_.after, s, count, after_);
    ragged_ = run_.first_step + (run_.direction > 0 ? s + count - 1 : -s) >= shortest_;
    const T* const panels = matrix_.panels();
    const T* const column_shift = matrix_.column_shift();
    const T* const column_scale = matrix_.column_scale();
    const T* const least_sum = matrix_.least_sum();
    const V none = hn::Zero(d_);
    V m0 = none, m1 = none, m2 = none, m3 = none;
    const auto set = [&](std::int64_t a, V x) HWY_ATTR {
      if (a == 0) m0 = x;
      if (a == 1) m1 = x;
      if (a == 2) m2 = x;
      if (a == 3) m3 = x;
    };
    for (std::int64_t a = 0; a < states; ++a) {
      const V x = hn::Load(d_, history_ + last_ * most_entries + a * lanes());
      hn::Store(x, d_, history_ + a * lanes());
      set(a, x);
    }
    V top = hn::Load(d_, tops_[last_]);
    hn::Store(top, d_, tops_[0]);
    auto ever_lost = steps_.none_lost();
    for (std::int64_t k = 0; k < count; ++k) {
      const T* from = history_ + k * most_entries;
      T* const to = history_ + (k + 1) * most_entries;
      const auto entry = [&](std::int64_t a) HWY_ATTR {
        if constexpr (kStates == 0) return hn::Load(d_, from + a * lanes());
        return a == 0 ? m0 : a == 1 ? m1 : a == 2 ? m2 : m3;
      };
      auto lost = steps_.none_lost();
      const V normaliser = steps_.normaliser(top);
      if (has_before) {
        const T* const term = before_ + k * most_entries;
        const V shift = shift_of(term, states);
        hn::Store(shift, d_, before_shift_[k]);
        for (std::int64_t a = 0; a < states; ++a) {
          const V factor = steps_.factor(load_term(term, a), shift, none);
          const V x = steps_.combine(entry(a), factor, steps_.neutral(), none, lost);
          kStates > 0 ? set(a, x) : hn::Store(x, d_, formed_ + a * lanes());
        }
        from = formed_;
      }
      const T* const term = after_ + k * most_entries;
      const V shift = has_after ? shift_of(term, states) : none;
      hn::Store(shift, d_, after_shift_[k]);
      V next_top = hn::Set(d_, Steps::zero);
      const auto finish = [&](std::int64_t b, V sum) HWY_ATTR {
        const V factor = has_after ? steps_.factor(load_term(term, b), shift, hn::Set(d_, column_shift[b]))
                                   : steps_.plain_factor(column_scale[b]);
        const V x = steps_.combine(sum, factor, normaliser, hn::Set(d_, least_sum[b]), lost);
        next_top = hn::Max(next_top, x);
        hn::Store(x, d_, to + b * lanes());
        if constexpr (kStates > 0) set(b, x);
      };
      // Four sums of every fourth term, as ScanVectors forms them. Columns beyond the states are in the panel, too.
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
      lost = steps_.only(lost, hn::Gt(top, hn::Set(d_, Steps::zero)));
      if (HWY_UNLIKELY(ragged_)) {
        const auto exists = find_existing(s + k, exists_[k]);
        lost = steps_.only(lost, exists);
        next_top = hn::IfThenElse(exists, next_top, top);
        for (std::int64_t b = 0; b < states; ++b) {
          const V x =
              hn::IfThenElse(exists, hn::Load(d_, to + b * lanes()), hn::Load(d_, to - most_entries + b * lanes()));
          hn::Store(x, d_, to + b * lanes());
          if constexpr (kStates > 0) set(b, x);
        }
      }
      ever_lost = steps_.either(ever_lost, lost);
      top = next_top;
      hn::Store(top, d_, tops_[k + 1]);
    }
    any_lost_ = steps_.any(ever_lost);
    if (HWY_UNLIKELY(any_lost_)) hn::Store(steps_.ones(ever_lost), d_, lost_);
  }

  template <int kStates>
  HWY_INLINE void gather(const SliceTerm& term, std::int64_t s, std::int64_t count, T* to) {
    gather_lanes<T, kStates>(run_, term, s, count, first_, rows_, states_, staging_, to);
  }

  HWY_INLINE auto find_existing(std::int64_t s, T* flags) const {
    for (std::int64_t i = 0; i < rows_; ++i) flags[i] = run_.exists(s, first_ + i) ? T{1} : T{0};
    return hn::Gt(hn::Load(d_, flags), hn::Zero(d_));
  }

  HWY_INLINE V load_term(const T* terms, std::int64_t state) const {
    return steps_.term(hn::Load(d_, terms + state * lanes()));
  }

  /// The largest entries of each row's term: 0 where all are the semiring's zero.
  HWY_INLINE V shift_of(const T* terms, std::int64_t states) const {
    V largest = load_term(terms, 0);
    for (std::int64_t b = 1; b < states; ++b) largest = hn::Max(largest, load_term(terms, b));
    return hn::IfThenElseZero(hn::Gt(largest, hn::Set(d_, -std::numeric_limits<T>::infinity())), largest);
  }

  /// Adds up what the steps have taken out, and traces their messages.
  HWY_NOINLINE void account_for(std::int64_t s, std::int64_t count) {
    const ScanTrace& trace = run_.trace;
    const bool traces = trace.messages.data != nullptr, traces_offsets = traces && trace.offsets.data != nullptr;
    if (!traces_offsets) add_exponents(0, count);
    for (std::int64_t k = 0; k < count; ++k) {
      add_offsets(k);
      if (traces_offsets) add_exponents(k, k + 1);
      if (!traces) continue;
      write_messages(trace.linear, k + 1, trace.messages, s + k);
      if (!traces_offsets) continue;
      find_offsets(tops_[k + 1]);
      for (std::int64_t i = 0; i < rows_; ++i) *trace.offsets.at<double>(s + k, first_ + i) = offsets_[i];
    }
  }

  HWY_INLINE void add_exponents(std::int64_t begin, std::int64_t end) {
    const hn::RebindToSigned<GemmTag<T>> di;
    auto sum = hn::Zero(di);
    for (std::int64_t k = begin; k < end; ++k) {
      V top = hn::Load(d_, tops_[k]);
      if (ragged_) top = hn::IfThenElse(hn::Gt(hn::Load(d_, exists_[k]), hn::Zero(d_)), top, steps_.neutral());
      sum = hn::Add(sum, Steps::exponents_of(di, top));
    }
    alignas(64) hn::TFromD<decltype(di)> sums[most_lanes];
    hn::Store(sum, di, sums);
    for (std::int64_t i = 0; i < rows_; ++i) exponent_[i] += static_cast<std::int64_t>(sums[i]);
  }

  HWY_INLINE void add_offsets(std::int64_t k) {
    const hn::CappedTag<double, 4> d;
    const auto shift = hn::Set(d, matrix_.shift());
    for (std::int64_t i = 0; i < rows_; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      const auto before = hn::Load(d, offset_ + i);
      auto after = before;
      const auto top = Steps::taken(d, load_doubles(d, tops_[k] + i));
      if (run_.before.data != nullptr) after = hn::Add(after, load_doubles(d, before_shift_[k] + i));
      after = hn::Add(after, hn::Add(hn::Add(load_doubles(d, after_shift_[k] + i), top), shift));
      if (ragged_) after = hn::IfThenElse(hn::Gt(load_doubles(d, exists_[k] + i), hn::Zero(d)), after, before);
      hn::Store(after, d, offset_ + i);
    }
  }

  /// Writes the k-th messages of history_ to the rows' places of a step.
  HWY_INLINE void write_messages(bool linear, std::int64_t k, const SlicePlace& to, std::int64_t step) {
    const V top = steps_.divisor(hn::Load(d_, tops_[k]));
    const V reciprocal = steps_.reciprocal(top);
    const T* const message = history_ + k * most_entries;
    const auto form = [&](std::int64_t b) HWY_ATTR {
      const V x = hn::Load(d_, message + b * lanes());
      return linear ? steps_.linear_form(x, top, reciprocal) : steps_.form(x, top);
    };
    if (states_ == 2) {
      hn::StoreInterleaved2(form(0), form(1), d_, together_);
    } else if (states_ == 4) {
      hn::StoreInterleaved4(form(0), form(1), form(2), form(3), d_, together_);
    } else {
      for (std::int64_t b = 0; b < states_; ++b) hn::Store(form(b), d_, formed_ + b * lanes());
      for (std::int64_t i = 0; i < rows_; ++i) {
        for (std::int64_t b = 0; b < states_; ++b) together_[i * states_ + b] = formed_[b * lanes() + i];
      }
    }
    if (to.row_offset == nullptr && to.row_stride == states_) {
      std::copy_n(together_, rows_ * states_, to.at<T>(step, first_));
      return;
    }
    for (std::int64_t i = 0; i < rows_; ++i) {
      std::copy_n(together_ + i * states_, states_, to.at<T>(step, first_ + i));
    }
  }

  /// The offsets of messages with these largest entries.
  void find_offsets(const T* tops) {
    alignas(64) double largest[most_lanes];
    Steps::log_tops(tops, rows_, largest);
    for (std::int64_t i = 0; i < rows_; ++i) {
      const bool live = tops[i] > Steps::zero;
      offsets_[i] = live ? steps_.total(offset_[i], exponent_[i], largest[i]) : run_.offset[first_ + i];
    }
  }

  /// Rows that have just lost an entry leave the lanes, as they were before.
  HWY_NOINLINE void prepare_alone() {
    for (std::int64_t i = 0; i < rows_; ++i) {
      if (!any_lost_ || lost_[i] == 0 || alone_[i]) continue;
      alone_[i] = true;
      row_[i].in_logs = false;
      row_[i].offset = offset_[i];
      row_[i].exponent = exponent_[i];
      row_[i].top = tops_[0][i];
    }
  }

  HWY_NOINLINE void step_alone(std::int64_t s, std::int64_t count) {
    any_alone_ = false;
    for (std::int64_t i = 0; i < rows_; ++i) {
      if (!alone_[i]) continue;
      row_[i].message = blocks_.first_message();
      for (std::int64_t b = 0; b < states_; ++b) row_[i].message[b] = history_[b * lanes() + i];
      blocks_.advance(row_ + i, first_ + i, 1, s, s + count);
      take_back(i, history_ + count * most_entries, tops_[count]);
    }
  }

  /// A row that has been alone joins the others, or is alone with zeros in its lane.
  void take_back(std::int64_t i, T* message, T* top) {
    const ScanRow<T>& row = row_[i];
    alone_[i] = row.in_logs;
    any_alone_ |= row.in_logs;
    for (std::int64_t b = 0; b < states_; ++b) message[b * lanes() + i] = row.in_logs ? Steps::zero : row.message[b];
    top[i] = row.in_logs ? Steps::zero : row.top;
    offset_[i] = row.offset;
    exponent_[i] = row.exponent;
  }

  const PackedMatrix<T>& matrix_;
  const ScanRun& run_;
  const ScanBlocks<Steps, T>& blocks_;
  const Steps& steps_;
  const std::int64_t states_;
  const GemmTag<T> d_{};
  std::int64_t first_ = 0, rows_ = 0;
  std::int64_t last_ = 0;      // where the current messages are in history_ and tops_
  std::int64_t shortest_ = 0;  // of the rows' lengths
  bool ragged_ = false;        // some of the current steps do not exist in all rows
  bool any_lost_ = false, any_alone_ = false;

  alignas(64) T before_[ahead * most_entries];
  alignas(64) T after_[ahead * most_entries];
  // Longer than need be: were history_ a multiple of 4096 bytes from the terms, the next step's loads would wait for
  // this step's stores, which seem to go to the same place.
  alignas(64) T staging_[ahead * most_entries + most_entries / 2];
  alignas(64) T history_[(ahead + 1) * most_entries];
  alignas(64) T formed_[most_entries];
  alignas(64) T together_[most_entries];
  alignas(64) T tops_[ahead + 1][most_lanes];
  alignas(64) T before_shift_[ahead][most_lanes];
  alignas(64) T after_shift_[ahead][most_lanes];
  alignas(64) T exists_[ahead][most_lanes] = {};
  alignas(64) T lost_[most_lanes];
  alignas(64) T logs_[most_lanes][most_lanes];
  alignas(64) double offset_[most_lanes];
  double offsets_[most_lanes];
  std::int64_t exponent_[most_lanes];
  bool alone_[most_lanes];
  ScanRow<T> row_[most_lanes];
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
