// Goes back along a scan: what the states after a step weigh is passed on to those before it.
#if defined(PLATED_KERNELS_CHAIN_POSTERIOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_CHAIN_POSTERIOR_INL
#undef PLATED_KERNELS_CHAIN_POSTERIOR_INL
#else
#define PLATED_KERNELS_CHAIN_POSTERIOR_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/watch.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/chain_posterior.hpp"
#include "kernels/packed_product-inl.hpp"
#include "kernels/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// With x the message before a step, times the factor of its state, and W the matrix, p = x W is what the step predicts
/// of the states after it. Of the mass m(b) of one, x(a) W(a,b) / p(b) goes to the state a before it: with the ratios
/// r = m / p, a mass before the step is x(a) Σ W(a,b) r(b), and that of a pair is x(a) W(a,b) r(b). So the way back
/// reads messages, and takes neither the factors after the matrix nor their exponentials.
///
/// Entries of messages and of the matrix may have been flushed to 0 below the normal range. If ratios are at most
/// 1 / least_share, what was flushed had less than a rounding error of the mass.
template <class T>
class PosteriorRows {
 public:
  static constexpr T least_share = sizeof(T) == 4 ? T(1e-20) : T(1e-250);

  PosteriorRows(const PosteriorShape& shape, const PackedMatrix<T>& matrix, const PackedMatrix<T>& turned,
                const PosteriorRun& run, std::byte* scratch)
      : shape_(shape),
        matrix_(matrix),
        turned_(turned),
        run_(run),
        states_(shape.states),
        pitch_(shape.pitch()),
        together_(shape.together()),
        slots_(shape.slots()),
        width_(matrix.width()),
        sources_(reinterpret_cast<T*>(scratch)),
        ratios_(sources_ + (posterior_chunk + 1) * width_),
        masses_(ratios_ + posterior_chunk * width_),
        copy_(masses_ + (posterior_chunk + 8) * width_) {}

  bool run(std::int64_t first, std::int64_t last) {
    base::Pace pace(static_cast<double>(last - first) / static_cast<double>(together_) *
                    static_cast<double>(run_.there.steps) * static_cast<double>(work_of_a_step()));
    for (; first < last; first += shape_.rows_at_once()) {
      first_ = first;
      rows_ = std::min(shape_.rows_at_once(), last - first);
      bundles_ = (rows_ + together_ - 1) / together_;
      for (std::int64_t i = 0; i < rows_; ++i) slot_[i] = i / together_ * width_ + i % together_ * pitch_;
      if (!run_rows(pace)) return false;
    }
    return true;
  }

 private:
  using V = GemmVec<T>;
  using Algebra = SumOfProducts<T>;
  static constexpr std::int64_t most_rows = PackedMatrix<T>::panel * 4;
  static constexpr std::int64_t steps_of_a_sum = 8;  // between corrections of what rounding adds to a row's mass
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())); }

  bool run_rows(base::Pace& pace) {
    // Whole groups of steps: where chunks begin changes nothing.
    const std::int64_t chunk = posterior_chunk / bundles_ / steps_of_a_sum * steps_of_a_sum;
    begin_ = std::max<std::int64_t>(run_.there.steps - 1, 0) / chunk * chunk;
    count_ = run_.there.steps - begin_;
    // Slots without a state weigh nothing.
    if (states_ <= few_entries) std::fill_n(sources_, posterior_chunk * width_, T{0});
    std::fill_n(at(masses_, count_), bundles_ * width_, T{0});
    if (!enter()) return false;
    for (; count_ > 0; begin_ -= count_) {
      if (pace.stops(count_ * bundles_ * work_of_a_step())) return false;
      gather();
      rows_times_matrix<Algebra>(matrix_, sources_, ratios_, count_ * bundles_);
      if (!all_count_) skip_absent();
      if (!go_back()) return false;
      answer();
      count_ = std::min(chunk, begin_);
      std::copy_n(masses_, bundles_ * width_, at(masses_, count_));
    }
    leave();
    return true;
  }

  /// Of rows in a vector, about, in nanoseconds.
  [[nodiscard]] std::int64_t work_of_a_step() const { return 16 + slots_ * slots_ / 8; }

  HWY_INLINE T* at(T* array, std::int64_t step) const { return array + step * bundles_ * width_; }
  HWY_INLINE bool counts(std::int64_t step, std::int64_t row) const {
    return all_count_ || (share_[row] > 0 && run_.there.exists(begin_ + step, first_ + row));
  }

  /// Masses of rows that have far from 1 of it are shares.
  bool enter() {
    all_count_ = run_.there.lengths == nullptr;
    for (std::int64_t i = 0; i < rows_; ++i) {
      const double* const mass = run_.mass + (first_ + i) * states_;
      double sum = 0;
      for (std::int64_t k = 0; k < states_; ++k) {
        if (!(mass[k] >= 0)) return false;
        sum += mass[k];
      }
      if (!(sum < std::numeric_limits<double>::infinity())) return false;
      unit_[i] = sum == 0 || (sum > 1.0 / 16 && sum < 16) ? 1.0 : sum;
      share_[i] = static_cast<T>(sum / unit_[i]);
      for (std::int64_t k = 0; k < states_; ++k) {
        at(masses_, count_)[slot_[i] + k] = static_cast<T>(mass[k] / unit_[i]);
      }
      all_count_ = all_count_ && sum > 0;
    }
    return true;
  }

  void leave() {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t k = 0; k < states_; ++k) {
        run_.first_mass[(first_ + i) * states_ + k] = unit_[i] * static_cast<double>(at(masses_, count_)[slot_[i] + k]);
      }
    }
  }

  /// sources ← messages with the factors of their states. Rows may be taken together where they lie so.
  HWY_NOINLINE void gather() {
    const SliceTerm& from = run_.messages;
    const bool side_by_side = all_count_ && run_.there.before.data == nullptr && pitch_ == states_ &&
                              from.row_offset == nullptr && from.row_stride == states_;
    const std::int64_t step = side_by_side ? together_ : 1, step_stride = from.step_stride;
    const bool plain = run_.linear && run_.there.before.data == nullptr;
    if (plain && (!side_by_side || together_ == 1) && states_ <= few_entries) {
      return with_copy_of<T>(states_, [&](const auto& copy) {
        for (std::int64_t i = 0; i < rows_; ++i) {
          const T* source = from.template at<T>(begin_ + count_ - 1, first_ + i);
          T* to = at(sources_, count_ - 1) + slot_[i];
          for (std::int64_t k = count_ - 1; k >= 0; --k, source -= step_stride, to -= bundles_ * width_) {
            counts(k, i) ? copy(to, source) : void(std::fill_n(to, states_, T{0}));
          }
        }
      });
    }
    // As the chunks go, for the processor fetches ahead what follows in memory.
    for (std::int64_t k = count_ - 1; k >= 0; --k) {
      for (std::int64_t i = 0; i < rows_; i += step) {
        T* const to = at(sources_, k) + slot_[i];
        if (counts(k, i)) {
          load_source(begin_ + k, first_ + i, std::min(step, rows_ - i) * states_, to);
        } else {
          std::fill_n(to, together_ == 1 ? width_ : states_, T{0});
        }
      }
    }
  }

  HWY_INLINE void load_source(std::int64_t step, std::int64_t row, std::int64_t count, T* to) const {
    constexpr T lowest = -std::numeric_limits<T>::infinity();
    const T* const from = run_.messages.template at<T>(step, row);
    // The next ones are far away in memory where there are many rows.
    hwy::Prefetch(from - count_ * run_.messages.step_stride);
    const std::int64_t stored = together_ == 1 ? (count + lanes() - 1) / lanes() * lanes() : count;
    const SliceTerm& terms = run_.there.before;
    if (HWY_LIKELY(run_.linear && terms.data == nullptr)) {
      return store_row(to, stored, [&](std::int64_t v) HWY_ATTR { return load_of_row(from, count, v, T{0}); });
    }
    const T* const term =
        terms.data == nullptr ? nullptr : contiguous(terms.at<T>(step, row), count, terms.state_stride, copy_);
    const V none = hn::Set(d_, lowest);
    // Of states that can be, what is to be exponentiated.
    const auto logs_at = [&](std::int64_t v, V message) HWY_ATTR {
      const V logs = term == nullptr ? hn::Zero(d_) : load_of_row(term, count, v, T{0});
      return run_.linear ? hn::IfThenElse(hn::Gt(message, hn::Zero(d_)), logs, none) : hn::Add(message, logs);
    };
    const auto message_at = [&](std::int64_t v)
                                HWY_ATTR { return load_of_row(from, count, v, run_.linear ? T{0} : lowest); };
    V top = none;
    for (std::int64_t v = 0; v < count; v += lanes()) top = hn::Max(top, logs_at(v, message_at(v)));
    top = hn::MaxOfLanes(d_, top);
    store_row(to, stored, [&](std::int64_t v) HWY_ATTR {
      const V message = message_at(v), logs = logs_at(v, message);
      const V factor = hn::IfThenElseZero(hn::Gt(logs, none), ExpOfShifted(d_, hn::Sub(logs, top)));
      return run_.linear ? hn::Mul(message, factor) : factor;
    });
  }

  /// Slices that do not exist predict nothing, which is no contradiction to their mass.
  HWY_NOINLINE void skip_absent() {
    for (std::int64_t k = 0; k < count_; ++k) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        if (!counts(k, i)) std::fill_n(at(ratios_, k) + slot_[i], states_, T{1});
      }
    }
  }

  bool go_back() {
    for (std::int64_t bundle = 0; bundle < bundles_ * width_; bundle += width_) divide_bundle(count_ - 1, bundle);
    // Rows that may lie together are summed in one way, on all targets.
    if (slots_ <= lanes()) return take_steps<1>();
    return slots_ <= 4 * lanes() || 2 * pitch_ <= PackedMatrix<T>::panel ? take_steps<2>() : take_steps<0>();
  }

  /// masses of all steps, from their ratios; false where these are too large. kVectors: how many
  /// go through the matrix at once; 0: all, of all rows.
  template <int kVectors>
  HWY_NOINLINE bool take_steps() {
    const V most = hn::Set(d_, T{1} / least_share);
    auto good = hn::Eq(most, most);
    const bool single = bundles_ == 1 && all_count_;
    V ratio = hn::LoadU(d_, at(ratios_, count_ - 1));  // of a single vector of states
    for (std::int64_t k = count_ - 1; k >= 0; --k) {
      if constexpr (kVectors == 0) rows_times_matrix<Algebra>(turned_, at(ratios_, k), at(masses_, k), bundles_);
      for (std::int64_t bundle = 0; bundle < bundles_ * width_; bundle += width_) {
        T* const to = at(masses_, k) + bundle;
        const T* const own = at(ratios_, k) + bundle;
        const T* const source = at(sources_, k) + bundle;
        const auto put = [&](std::int64_t v, V sum) HWY_ATTR {
          good = hn::And(good, hn::Le(hn::LoadU(d_, own + v), most));
          const V x = hn::LoadU(d_, source + v);
          const V mass = hn::Mul(x, sum);
          hn::StoreU(mass, d_, to + v);
          if (HWY_UNLIKELY(k == 0 || !all_count_)) return;
          ratio = divide(mass, x, at(ratios_, k - 1) + bundle + v);
        };
        if constexpr (kVectors == 0) {
          for (std::int64_t v = 0; v < slots_; v += lanes()) put(v, hn::LoadU(d_, to + v));
        } else if constexpr (kVectors == 1) {
          // In registers: to store them and to read them back would take longer than a step's arithmetic.
          const V row = single ? ratio : hn::LoadU(d_, own);
          const hn::RebindToSigned<GemmTag<T>> di;
          using I = hn::TFromD<decltype(di)>;
          const auto entry = [&](std::int64_t b) HWY_ATTR {
            return hn::TableLookupLanes(row, hn::IndicesFromVec(d_, hn::Set(di, static_cast<I>(b))));
          };
          multiply<false>(entry, 0, put);
        } else {
          const auto entry = [&](std::int64_t b) HWY_ATTR { return hn::Set(d_, own[b]); };
          std::int64_t v = 0;
          for (; v + lanes() < slots_; v += 2 * lanes()) multiply<true>(entry, v, put);
          if (v < slots_) multiply<false>(entry, v, put);
        }
        const std::int64_t first = bundle / width_ * together_;
        if (HWY_UNLIKELY(!all_count_)) {
          keep_absent(k, first);
          if (k > 0) divide_bundle(k - 1, bundle);
        }
        if (HWY_UNLIKELY(k % steps_of_a_sum == steps_of_a_sum - 1) && !correct(k, first)) return false;
      }
    }
    return hn::AllTrue(d_, good);
  }

  /// A bundle's ratios of a step, from its masses after it.
  HWY_INLINE void divide_bundle(std::int64_t step, std::int64_t bundle) const {
    for (std::int64_t v = bundle; v < bundle + slots_; v += lanes()) {
      const V mass = hn::LoadU(d_, at(masses_, step + 1) + v);
      divide(mass, mass, at(ratios_, step) + v);
    }
  }
  /// Of states that can be. The longest way to a ratio is from the mass.
  HWY_INLINE V divide(V mass, V possible, T* prediction) const {
    const V inverse = hn::Div(hn::Set(d_, T{1}), hn::LoadU(d_, prediction));
    const V ratio = hn::Mul(mass, hn::IfThenElseZero(hn::Gt(possible, hn::Zero(d_)), inverse));
    hn::StoreU(ratio, d_, prediction);
    return ratio;
  }

  /// put(v, Σ W(v …, b) entry(b)) for one vector or two of them, in four sums of every fourth term.
  template <bool kTwo, class Entry, class Put>
  HWY_INLINE void multiply(const Entry& entry, std::int64_t v, const Put& put) const {
    constexpr std::int64_t panel = PackedMatrix<T>::panel;
    const T* const w = packed_column(turned_, v);
    const T* const u = kTwo ? packed_column(turned_, v + lanes()) : w;
    const V zero = hn::Zero(d_);
    V a0 = zero, a1 = zero, a2 = zero, a3 = zero, b0 = zero, b1 = zero, b2 = zero, b3 = zero;
    const auto add = [&](std::int64_t k, V& a, V& b) HWY_ATTR {
      const V x = entry(k);
      a = hn::MulAdd(x, hn::Load(d_, w + k * panel), a);
      if constexpr (kTwo) b = hn::MulAdd(x, hn::Load(d_, u + k * panel), b);
    };
    std::int64_t k = 0;
    for (; k + 4 <= slots_; k += 4) add(k, a0, b0), add(k + 1, a1, b1), add(k + 2, a2, b2), add(k + 3, a3, b3);
    if (k < slots_) add(k, a0, b0);
    if (k + 1 < slots_) add(k + 1, a1, b1);
    if (k + 2 < slots_) add(k + 2, a2, b2);
    const V even = hn::Add(a0, a1);
    put(v, slots_ > 2 ? hn::Add(even, hn::Add(a2, a3)) : even);
    if constexpr (kTwo) put(v + lanes(), hn::Add(hn::Add(b0, b1), hn::Add(b2, b3)));
  }

  /// A bundle's rows that lack the step keep their masses.
  HWY_NOINLINE void keep_absent(std::int64_t k, std::int64_t first) const {
    for (std::int64_t i = first; i < std::min(first + together_, rows_); ++i) {
      if (!counts(k, i)) std::copy_n(at(masses_, k + 1) + slot_[i], states_, at(masses_, k) + slot_[i]);
    }
  }

  /// Makes up for what rounding has added to the masses of a bundle's rows, some steps later: nothing waits for that.
  /// False where they have lost their masses.
  HWY_NOINLINE bool correct(std::int64_t k, std::int64_t first) const {
    for (std::int64_t i = first; i < std::min(first + together_, rows_); ++i) {
      const T* const mass = at(masses_, k) + slot_[i];
      V sums = hn::Zero(d_);
      for (std::int64_t v = 0; v < states_; v += lanes()) sums = hn::Add(sums, load_of_row(mass, states_, v, T{0}));
      const T sum = hn::GetLane(hn::SumOfLanes(d_, sums));
      if (share_[i] > 0 && !(sum > share_[i] / 2)) return false;
      const V times = hn::Set(d_, share_[i] > 0 ? sum / share_[i] : T{1});
      T* const prediction = at(ratios_, k - steps_of_a_sum / 2) + slot_[i];
      // Whole vectors where they can be: what follows would wait for parts of one.
      store_row(prediction, together_ == 1 ? width_ : states_,
                [&](std::int64_t v) HWY_ATTR { return hn::Mul(hn::LoadU(d_, prediction + v), times); });
    }
    return true;
  }

  /// Writes what is asked for.
  HWY_NOINLINE void answer() {
    for (const PosteriorPlace& place : run_.places) {
      const bool direct = place.to.state_stride == 1 && (place.to.dtype == Dtype::float32) == (sizeof(T) == 4);
      for (std::int64_t i = 0; i < rows_; ++i) {
        const T* mass = at(masses_, place.before ? count_ : count_ + 1) + slot_[i];
        const T unit = static_cast<T>(unit_[i]);
        const std::int64_t states = states_, mass_stride = bundles_ * width_;
        const std::int64_t step_stride = direct ? place.to.step_stride : 0;
        T* to = direct ? place.to.template at<T>(begin_ + count_ - 1, first_ + i) : copy_;
        for (std::int64_t k = count_ - 1; k >= 0; --k, to -= step_stride) {
          mass -= mass_stride;
          const V times = hn::Set(d_, counts(k, i) ? unit : T{0});
          store_row(to, states, [&](std::int64_t v) HWY_ATTR { return hn::Mul(hn::LoadU(d_, mass + v), times); });
          if (!direct) put_row(place.to, begin_ + k, first_ + i, states, to, 1);
        }
      }
    }
    if (run_.totals == nullptr) return;
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t k = 0; k < count_ && unit_[i] != 1; ++k) {
        for (std::int64_t s = 0; s < states_; ++s) at(ratios_, k)[slot_[i] + s] *= static_cast<T>(unit_[i]);
      }
    }
    add_totals();
  }

  /// totals += Σ sourcesᵀ ratios.
  HWY_NOINLINE void add_totals() const {
    HWY_ALIGN T tile[6 * 2 * PackedMatrix<T>::panel];
    const hn::CappedTag<double, 8> dd;
    const std::int64_t doubles = static_cast<std::int64_t>(hn::Lanes(dd));
    for (std::int64_t b = 0; b < slots_; b += 2 * lanes()) {
      const std::int64_t vectors = b + lanes() < slots_ ? 2 : 1;
      const std::int64_t columns = std::min(vectors * lanes(), slots_ - b);
      for (std::int64_t a = 0; a < slots_; a += 6) {
        const std::int64_t rows = std::min<std::int64_t>(6, slots_ - a);
        micro_kernel_for<Algebra, T>(rows, vectors)(MicroTile<T>{count_ * bundles_, sources_ + a, 1, width_,
                                                                 ratios_ + b, width_, tile, vectors * lanes(), false});
        for (std::int64_t i = 0; i < rows; ++i) {
          double* const to = run_.totals + (a + i) * slots_ + b;
          const T* const from = tile + i * vectors * lanes();
          std::int64_t j = 0;
          for (; j + doubles <= columns; j += doubles) {
            hn::StoreU(hn::Add(hn::LoadU(dd, to + j), load_doubles(dd, from + j)), dd, to + j);
          }
          for (; j < columns; ++j) to[j] += static_cast<double>(from[j]);
        }
      }
    }
  }

  const PosteriorShape& shape_;
  const PackedMatrix<T>&matrix_, &turned_;
  const PosteriorRun& run_;
  const std::int64_t states_, pitch_, together_, slots_, width_;
  // [step, bundle, slot]: messages with factors; predictions, then ratios; masses before the steps and after the last.
  T *const sources_, *const ratios_, *const masses_, *const copy_;
  std::int64_t first_ = 0, rows_ = 0, bundles_ = 0;  // that go back at once
  std::int64_t begin_ = 0, count_ = 0;               // the steps in the arrays
  bool all_count_ = true;
  // Of each row: where its states are among those of a step; what its masses are counted in, and their sum.
  std::int64_t slot_[most_rows];
  double unit_[most_rows];
  T share_[most_rows];
  const GemmTag<T> d_{};
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
