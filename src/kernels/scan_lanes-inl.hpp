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
#include <utility>

#include "base/watch.hpp"
#include "hwy/highway.h"
#include "kernels/scan_burst-inl.hpp"
#include "kernels/scan_kernels.hpp"
#include "kernels/scan_lane_terms-inl.hpp"
#include "kernels/scan_product-inl.hpp"
#include "kernels/scan_row-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// The same arithmetic in the same order as ScanBlocks, hence the same bits. A row whose step cannot be done in lanes
/// (that of LogSteps in logarithms) goes through it alone, by the code for one row.
template <class Steps, class T>
class ScanLanes {
 public:
  ScanLanes(const ScanMatrix<T>& matrix, const ScanRun& run, T* scratch)
      : matrix_(matrix),
        run_(run),
        steps_(matrix),
        scratch_(scratch),
        states_(matrix.states()),
        terms_(run, matrix.states()) {}

  /// Whether lanes beat vectors of states for so many rows, measured.
  [[nodiscard]] static bool pays(std::int64_t states, std::int64_t rows) {
    return states <= 2 || (states <= scan_lane_states && 2 * rows >= states);
  }

  /// At most as many rows as there are lanes. False where the scan is to be given up.
  bool run(std::int64_t first, std::int64_t rows, base::Pace& pace) {
    first_ = first;
    rows_ = rows;
    enter();
    const bool done = states_ == 2 ? run_steps<2>(pace) : states_ == 4 ? run_steps<4>(pace) : run_steps<0>(pace);
    if (!done) return false;
    emit<false>([&](std::int64_t i) { return static_cast<T*>(run_.messages) + (first_ + i) * states_; });
    emit_offsets(top_, offsets_);
    std::copy_n(offsets_, rows_, run_.offset + first_);
    return true;
  }

 private:
  using V = GemmVec<T>;
  static constexpr std::int64_t most_lanes = ScanLaneTerms<T>::most_lanes;
  static constexpr std::int64_t most_entries = ScanLaneTerms<T>::most_entries;
  static constexpr std::int64_t ahead = ScanLaneTerms<T>::ahead;

  void enter() {
    std::fill_n(scratch_, (3 + most_lanes) * matrix_.width(), Steps::zero);
    std::fill_n(message_, most_entries, Steps::zero);
    std::fill_n(next_, most_entries, Steps::zero);
    std::fill_n(top_, most_lanes, Steps::zero);
    terms_.enter(first_, rows_);
    std::fill_n(exists_, most_lanes, T{1});
    shortest_ = std::numeric_limits<std::int64_t>::max();
    if (run_.lengths != nullptr) shortest_ = *std::min_element(run_.lengths + first_, run_.lengths + first_ + rows_);
    alone_count_ = 0;
    for (std::int64_t i = 0; i < rows_; ++i) {
      ScanRow<T>& row = row_[i];
      row = {};
      place(row, i);
      row.offset = run_.offset[first_ + i];
      if (Steps::negated) row.offset = -row.offset;
      row.product = row.message;
      steps_.enter(row, static_cast<const T*>(run_.messages) + (first_ + i) * states_);
      alone_[i] = false;
      take_back(row, i, message_, top_);
    }
  }

  [[nodiscard]] HWY_INLINE bool exists(std::int64_t s, std::int64_t i) const {
    return run_.lengths == nullptr || run_.lengths[first_ + i] > run_.first_step + s * run_.direction;
  }

  void find_existing(std::int64_t s) {
    for (std::int64_t i = 0; i < rows_; ++i) exists_[i] = exists(s, i) ? T{1} : T{0};
  }

  /// kStates: the number of states where the compiler is to know it, else 0.
  template <int kStates>
  bool run_steps(base::Pace& pace) {
    settled_ = 0;
    for (std::int64_t s = 0; s < run_.steps; ++s) {
      if (s % ahead == 0) {
        if (pace.stops(ahead * rows_ * scan_step_work(states_))) return false;
        settle_offsets(s);
        terms_.template gather<kStates>(s);
        if constexpr (kStates > 0) {
          const std::int64_t count = std::min(ahead, run_.steps - s);
          if (burst<kStates>(s, count)) {
            s += count - 1;
            continue;
          }
        }
      }
      if (run_.lengths != nullptr) find_existing(s);
      step<kStates>(s);
      std::swap(message_, next_);
      if (run_.trace.messages != nullptr) trace(s);
    }
    settle_offsets(run_.steps);
    return true;
  }

  /// Steps s … s + count − 1 in one go; false if they must be taken one by one.
  template <int kStates>
  HWY_INLINE bool burst(std::int64_t s, std::int64_t count) {
    const std::int64_t latest = run_.first_step + (run_.direction > 0 ? s + count - 1 : -s);
    if (alone_count_ > 0 || latest >= shortest_) return false;
    const ScanBurstData<T> data{.steps = count,
                                .pitch = most_entries,
                                .before = run_.before.data != nullptr ? terms_.before(s) : nullptr,
                                .after = run_.after.data != nullptr ? terms_.after(s) : nullptr,
                                .message = message_,
                                .top = top_,
                                .history = history_,
                                .taken = taken_};
    if (!ScanBurst<Steps, T, kStates>(matrix_, steps_).run(data)) return false;
    const T* const message = history_ + (count - 1) * most_entries;
    std::copy_n(message, kStates * lanes_, message_);
    const bool traces_offsets = run_.trace.messages != nullptr && run_.trace.offsets != nullptr;
    if (!traces_offsets) add_exponents(0, count);
    for (std::int64_t k = 0; k < count; ++k) {
      take_out_all(taken_[k]);
      if (traces_offsets) add_exponents(k, 1);
      if (run_.trace.messages == nullptr) continue;
      const T* const top = k + 1 < count ? taken_[k + 1].top : top_;
      if (run_.trace.linear) {
        trace_burst<kStates, true>(s + k, history_ + k * most_entries, top);
      } else {
        trace_burst<kStates, false>(s + k, history_ + k * most_entries, top);
      }
    }
    settled_ = s + count;
    return true;
  }

  template <int kStates, bool kLinear>
  HWY_INLINE void trace_burst(std::int64_t s, const T* message, const T* tops) {
    const ScanTrace& trace = run_.trace;
    const V top = steps_.divisor(hn::Load(d_, tops));
    const auto form = [&](std::int64_t b) HWY_ATTR {
      const V m = hn::Load(d_, message + b * lanes_);
      return kLinear ? steps_.linear(m, top) : steps_.logs(m, top);
    };
    if constexpr (kStates == 2) {
      hn::StoreInterleaved2(form(0), form(1), d_, input_);
    } else {
      hn::StoreInterleaved4(form(0), form(1), form(2), form(3), d_, input_);
    }
    T* const to = static_cast<T*>(trace.messages) + s * trace.step_stride;
    if (trace.row_offset == nullptr) {
      std::copy_n(input_, rows_ * kStates, to + first_ * kStates);
    } else {
      for (std::int64_t i = 0; i < rows_; ++i) {
        std::memcpy(to + trace.row_offset[first_ + i], input_ + i * kStates, kStates * sizeof(T));
      }
    }
    if (trace.offsets == nullptr) return;
    emit_offsets(tops, offsets_);
    for (std::int64_t i = 0; i < rows_; ++i) trace.offsets[trace.offset_at(s, first_ + i)] = offsets_[i];
  }

  /// take_out for all lanes.
  HWY_INLINE void take_out_all(const ScanTaken<T>& taken) {
    const hn::CappedTag<double, 4> d;
    const auto shift = hn::Set(d, matrix_.shift());
    for (std::int64_t i = 0; i < rows_; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      auto offset = hn::Load(d, offset_ + i);
      auto top = Steps::taken(d, load_doubles(d, taken.top + i));
      if (run_.before.data != nullptr) {
        offset = hn::Add(offset, hn::Add(load_doubles(d, taken.before + i), top));
        top = hn::Zero(d);
      }
      offset = hn::Add(offset, hn::Add(hn::Add(load_doubles(d, taken.after + i), top), shift));
      hn::Store(offset, d, offset_ + i);
    }
  }

  /// The exponents that the steps first … first + count − 1 of a burst have taken out.
  HWY_INLINE void add_exponents(std::int64_t first, std::int64_t count) {
    const hn::RebindToSigned<GemmTag<T>> di;
    auto sum = hn::Zero(di);
    for (std::int64_t k = first; k < first + count; ++k) {
      sum = hn::Add(sum, Steps::exponents_of(di, hn::Load(d_, taken_[k].top)));
    }
    alignas(64) hn::TFromD<decltype(di)> sums[most_lanes];
    hn::Store(sum, di, sums);
    for (std::int64_t i = 0; i < rows_; ++i) exponent_[i] += static_cast<std::int64_t>(sums[i]);
  }

  template <int kStates>
  HWY_INLINE void step(std::int64_t s) {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    const bool has_before = run_.before.data != nullptr, has_after = run_.after.data != nullptr;
    const bool ragged = run_.lengths != nullptr;
    ScanTaken<T>& taken = taken_[s % ahead];
    const T* const before = terms_.before(s);
    const T* const after = terms_.after(s);
    const T* const message = message_;
    T* const next = next_;
    const V none = hn::Zero(d_);
    const V top = hn::Load(d_, top_);
    const auto exists = hn::Gt(hn::Load(d_, exists_), none);
    hn::Store(top, d_, taken.top);
    V normaliser = steps_.normaliser(top);
    auto lost = steps_.none_lost();
    if (has_before) {
      const V shift = shift_of(before, states);
      hn::Store(shift, d_, taken.before);
      for (std::int64_t a = 0; a < states; ++a) {
        const V factor = steps_.factor(load_term(before, a), shift, none);
        const V x = steps_.combine(hn::Load(d_, message + a * lanes_), factor, normaliser, none, lost);
        hn::Store(x, d_, input_ + a * lanes_);
      }
      normaliser = steps_.no_normaliser();
    }
    V shift = none;
    if (has_after) shift = shift_of(after, states);
    hn::Store(shift, d_, taken.after);
    V next_top = hn::Set(d_, Steps::zero);
    product<kStates>(has_before ? input_ : message, [&](std::int64_t b, V sum) HWY_ATTR {
      V factor;
      if (has_after) {
        factor = steps_.factor(load_term(after, b), shift, hn::Set(d_, matrix_.column_shift()[b]));
      } else {
        factor = steps_.plain_factor(b);
      }
      V x = steps_.combine(sum, factor, normaliser, hn::Set(d_, matrix_.least_sum()[b]), lost);
      next_top = hn::Max(next_top, x);
      if (ragged) x = hn::IfThenElse(exists, x, hn::Load(d_, message + b * lanes_));
      hn::Store(x, d_, next + b * lanes_);
    });
    lost = steps_.of_live(lost, top);
    hn::Store(hn::IfThenElse(exists, next_top, top), d_, next_top_);
    if (HWY_UNLIKELY(steps_.any(lost) || alone_count_ > 0)) {
      HWY_ALIGN T flags[most_lanes];
      hn::Store(steps_.ones(lost), d_, flags);
      step_apart(s, flags);
    }
    hn::Store(hn::Load(d_, next_top_), d_, top_);
  }

  /// Gives the sums of kColumns columns at a time to put(column, sum).
  template <int kStates, class Put>
  HWY_INLINE void product(const T* from, const Put& put) const {
    using Algebra = typename Steps::Algebra;
    constexpr int columns = kStates == 2 ? 2 : 4;
    const std::int64_t states = kStates > 0 ? kStates : states_;
    const T* const w = matrix_.panels();
    for (std::int64_t b = 0; b < states; b += columns) {
      V c0 = hn::Set(d_, Algebra::zero()), c1 = c0, c2 = c0, c3 = c0;
      for (std::int64_t a = 0; a < states; ++a) {
        const V x = hn::Load(d_, from + a * lanes_);
        // Columns beyond the states are in the panel, too.
        const T* const entries = w + a * ScanMatrix<T>::panel + b;
        c0 = Algebra::multiply_add(x, hn::Set(d_, entries[0]), c0);
        c1 = Algebra::multiply_add(x, hn::Set(d_, entries[1]), c1);
        if constexpr (columns > 2) c2 = Algebra::multiply_add(x, hn::Set(d_, entries[2]), c2);
        if constexpr (columns > 2) c3 = Algebra::multiply_add(x, hn::Set(d_, entries[3]), c3);
      }
      put(b, c0);
      if (b + 1 < states) put(b + 1, c1);
      if (columns > 2 && b + 2 < states) put(b + 2, c2);
      if (columns > 2 && b + 3 < states) put(b + 3, c3);
    }
  }

  /// The step of the rows that are alone, or that have just lost an entry.
  HWY_NOINLINE void step_apart(std::int64_t s, const T* lost) {
    settle_offsets(s);
    for (std::int64_t i = 0; i < rows_; ++i) {
      if (exists_[i] == 0) continue;
      if (alone_[i] || lost[i] != 0) {
        step_alone(s, i);
      } else {
        take_out(taken_[s % ahead], i);
      }
    }
    settled_ = s + 1;
  }

  /// Adds up what the steps before s have taken out: a few steps at once, as it is not needed in between.
  HWY_INLINE void settle_offsets(std::int64_t s) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t k = settled_; k < s; ++k) {
        if (exists(k, i)) take_out(taken_[k % ahead], i);
      }
    }
    settled_ = s;
  }

  HWY_INLINE void take_out(const ScanTaken<T>& taken, std::int64_t i) {
    double top = Steps::taken(taken.top[i]);
    if (run_.before.data != nullptr) {
      offset_[i] += static_cast<double>(taken.before[i]) + top;
      top = 0.0;
    }
    offset_[i] += (static_cast<double>(taken.after[i]) + top) + matrix_.shift();
    exponent_[i] += Steps::exponent_of(taken.top[i]);
  }

  void trace(std::int64_t s) {
    const ScanTrace& trace = run_.trace;
    const auto place = [&](std::int64_t i) {
      return static_cast<T*>(trace.messages) + trace.message_at(s, first_ + i, states_);
    };
    if (trace.linear) {
      emit<true>(place);
    } else {
      emit<false>(place);
    }
    if (trace.offsets == nullptr) return;
    settle_offsets(s + 1);
    emit_offsets(top_, offsets_);
    for (std::int64_t i = 0; i < rows_; ++i) trace.offsets[trace.offset_at(s, first_ + i)] = offsets_[i];
  }

  HWY_INLINE V load_term(const T* terms, std::int64_t state) const {
    const V term = hn::Load(d_, terms + state * lanes_);
    return Steps::negated ? hn::Neg(term) : term;
  }

  /// The largest entries of each row's term: 0 where all are the semiring's zero.
  HWY_INLINE V shift_of(const T* terms, std::int64_t states) const {
    V largest = load_term(terms, 0);
    for (std::int64_t b = 1; b < states; ++b) largest = hn::Max(largest, load_term(terms, b));
    return hn::IfThenElseZero(hn::Gt(largest, hn::Set(d_, -std::numeric_limits<T>::infinity())), largest);
  }

  /// Gives a row the memory for a step on its own.
  void place(ScanRow<T>& row, std::int64_t i) {
    const std::int64_t width = matrix_.width();
    row.message = scratch_;
    row.product = scratch_ + width;
    row.input = run_.before.data != nullptr ? scratch_ + 2 * width : row.message;
    row.logs = scratch_ + (3 + i) * width;
  }

  void step_alone(std::int64_t s, std::int64_t i) {
    ScanRow<T>& row = row_[i];
    place(row, i);
    if (!alone_[i]) {
      for (std::int64_t b = 0; b < states_; ++b) row.message[b] = message_[b * lanes_ + i];
    }
    alignas(64) T before[most_lanes];
    alignas(64) T after[most_lanes];
    row.before = term_of(run_.before, s, i, before);
    row.after = term_of(run_.after, s, i, after);
    row.top = top_[i];
    row.offset = offset_[i];
    row.exponent = exponent_[i];
    steps_.prepare(row);
    scan_row_product<typename Steps::Algebra>(matrix_, row.input, row.product);
    steps_.finish(row);
    take_back(row, i, next_, next_top_);
  }

  /// A row's term of a step, its entries one after the other: where they are, or copied.
  const T* term_of(const SliceTerm& slices, std::int64_t s, std::int64_t i, T* copy) const {
    if (slices.data == nullptr) return nullptr;
    const T* from = static_cast<const T*>(slices.data) + s * slices.step_stride;
    if (slices.row_offset != nullptr) from += slices.row_offset[first_ + i];
    if (slices.state_stride == 1) return from;
    for (std::int64_t b = 0; b < states_; ++b) copy[b] = from[b * slices.state_stride];
    return copy;
  }

  /// A row that has been alone joins the others, or is alone with zeros in its lane.
  void take_back(const ScanRow<T>& row, std::int64_t i, T* message, T* top) {
    offset_[i] = row.offset;
    exponent_[i] = row.exponent;
    if (alone_[i] && row.in_logs) return;
    alone_count_ += row.in_logs ? 1 : alone_[i] ? -1 : 0;
    alone_[i] = row.in_logs;
    for (std::int64_t b = 0; b < states_; ++b) message[b * lanes_ + i] = row.in_logs ? Steps::zero : row.product[b];
    top[i] = row.in_logs ? Steps::zero : row.top;
  }

  /// Writes the messages to to(row of the lanes), with 0 as the largest entry, or in linear form.
  template <bool kLinear, class To>
  HWY_INLINE void emit(const To& to) {
    const V top = steps_.divisor(hn::Load(d_, top_));
    for (std::int64_t b = 0; b < states_; ++b) {
      const V message = hn::Load(d_, message_ + b * lanes_);
      hn::Store(kLinear ? steps_.linear(message, top) : steps_.logs(message, top), d_, input_ + b * lanes_);
    }
    for (std::int64_t i = 0; i < rows_; ++i) {
      T* const place = to(i);
      for (std::int64_t b = 0; b < states_; ++b) place[b] = input_[b * lanes_ + i];
      if (HWY_LIKELY(!alone_[i])) continue;
      if (kLinear) {
        steps_.leave_linear(row_[i], place);
      } else {
        steps_.leave(row_[i], place, offsets_[i]);
      }
    }
  }

  /// The offsets of messages with these largest entries, all their steps being settled.
  void emit_offsets(const T* top, double* offsets) {
    alignas(64) double largest[most_lanes];
    Steps::log_tops(top, rows_, largest);
    for (std::int64_t i = 0; i < rows_; ++i) {
      const bool live = top[i] > Steps::zero;
      offsets[i] = live ? Steps::total(offset_[i], exponent_[i], largest[i]) : run_.offset[first_ + i];
      if (!alone_[i]) continue;
      row_[i].offset = offset_[i];
      steps_.leave_offset(row_[i], offsets[i]);
    }
  }

  const ScanMatrix<T>& matrix_;
  const ScanRun& run_;
  const Steps steps_;
  T* const scratch_;
  const std::int64_t states_;
  const GemmTag<T> d_{};
  const std::int64_t lanes_ = static_cast<std::int64_t>(hn::Lanes(d_));
  std::int64_t first_ = 0, rows_ = 0;

  // Entry (state, lane) is at state · lanes + lane.
  alignas(64) T entries_[2][most_entries];
  alignas(64) T input_[most_entries];
  ScanLaneTerms<T> terms_;
  T* message_ = entries_[0];
  T* next_ = entries_[1];
  alignas(64) T top_[most_lanes];
  alignas(64) T next_top_[most_lanes];
  ScanTaken<T> taken_[ahead];
  alignas(64) T history_[ahead * most_entries];
  std::int64_t shortest_ = 0;  // of the rows' lengths
  std::int64_t settled_ = 0;   // steps whose taken_ are in the offsets
  alignas(64) T exists_[most_lanes];
  alignas(64) double offset_[most_lanes];
  double offsets_[most_lanes];
  std::int64_t exponent_[most_lanes];
  bool alone_[most_lanes];
  int alone_count_ = 0;
  ScanRow<T> row_[most_lanes];
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
