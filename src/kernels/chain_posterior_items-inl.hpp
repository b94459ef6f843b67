// A chain's posteriors for few states: each lane of a vector is a slice of a row.
#if defined(PLATED_KERNELS_CHAIN_POSTERIOR_ITEMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_CHAIN_POSTERIOR_ITEMS_INL
#undef PLATED_KERNELS_CHAIN_POSTERIOR_ITEMS_INL
#else
#define PLATED_KERNELS_CHAIN_POSTERIOR_ITEMS_INL
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/watch.hpp"
#include "hwy/highway.h"
#include "kernels/chain_posterior.hpp"
#include "kernels/gemm_algebra-inl.hpp"
#include "kernels/math-inl.hpp"
#include "kernels/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// More states than this fill vectors of their own.
inline constexpr std::int64_t posterior_item_states = 8;

/// Whether lanes of slices beat vectors of states, measured: not where states fill most of a vector, as the way into
/// lanes is long but for 2 and 4 states.
template <class T>
[[nodiscard]] bool items_pay(std::int64_t states) {
  return states <= 4 ||
         (states <= posterior_item_states && 2 * states <= static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())));
}

/// Items, slices of rows that exist, are gathered into lanes, and all steps of the arithmetic done for many of them.
template <class T>
class PosteriorItems {
 public:
  PosteriorItems(const PackedMatrix<T>& matrix, const PosteriorRun& run)
      : matrix_(matrix), run_(run), states_(matrix.states()) {}

  bool run(std::int64_t first, std::int64_t last) {
    if (run_.totals != nullptr) {
      std::fill_n(sums_, states_ * states_ * lanes(), T{0});
      for (std::int64_t a = 0; a < states_; ++a) {
        for (std::int64_t b = 0; b < states_; ++b) {
          weights_[a * states_ + b] = matrix_.column(b)[a] * matrix_.column_scale()[b];
        }
      }
    }
    std::int64_t count = 0;
    rows_ = last;
    for (std::int64_t t = 0; t < run_.steps; ++t) {
      for (std::int64_t r = first; r < last; ++r) {
        if (!add_item(t, r, count)) return false;
      }
    }
    if (count > 0 && !do_items(count)) return false;
    if (run_.totals != nullptr) add_sums();
    return true;
  }

 private:
  using V = GemmVec<T>;
  static HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(GemmTag<T>())); }
  static constexpr std::int64_t most = 64;  // items at once
  // Chunks of items whose statistics are added up in T.
  static constexpr std::int64_t most_chunks = 16;

  struct Lanes {
    // A few cache lines longer than need be: loads from one array would wait for stores to the same place of another
    // one that is a multiple of 4096 bytes away.
    alignas(64) T at[posterior_item_states * most + 3 * PackedMatrix<T>::panel];
  };

  HWY_INLINE bool add_item(std::int64_t t, std::int64_t r, std::int64_t& count) {
    if (HWY_UNLIKELY(!run_.counts(t, r))) {
      const T zero = 0;
      if (run_.before.data != nullptr) put_row(run_.before, t, r, states_, &zero, 0);
      if (run_.after.data != nullptr) put_row(run_.after, t, r, states_, &zero, 0);
      return !pace_.stops(8);
    }
    slice_[count] = t;
    row_[count] = r;
    weight_[count] = static_cast<T>(run_.weight[r]);
    if (HWY_LIKELY(++count < most)) return true;
    count = 0;
    return !pace_.stops(most * (8 + states_ * states_)) && do_items(most);
  }

  HWY_NOINLINE bool do_items(std::int64_t count) {
    switch (states_) {
      case 2:
        return do_items_of<2>(count);
      case 4:
        return do_items_of<4>(count);
      case 8:
        return do_items_of<8>(count);
      default:
        return do_items_of<0>(count);
    }
  }

  /// kStates: the number of states where the compiler is to know it, else 0.
  template <int kStates>
  HWY_INLINE bool do_items_of(std::int64_t count) {
    const std::int64_t whole = (count + lanes() - 1) / lanes() * lanes();
    const bool before = run_.before.data != nullptr, after = run_.after.data != nullptr;
    const bool pairs = run_.totals != nullptr;
    std::fill(weight_ + count, weight_ + whole, T{0});
    // Messages at the state before each item, and after it; 1 beyond the items.
    if (before || pairs) gather<kStates>(run_.forward, 0, count, T{1}, forward_);
    if (after || pairs) gather<kStates>(run_.backward, 1, count, T{1}, backward_);
    if (before) {
      gather<kStates>(run_.backward, 0, count, T{1}, other_);
      if (!posterior<kStates>(forward_, other_, whole)) return false;
      scatter(run_.before, count);
    }
    if (after) {
      gather<kStates>(run_.forward, 1, count, T{1}, other_);
      if (!posterior<kStates>(other_, backward_, whole)) return false;
      scatter(run_.after, count);
    }
    if (!pairs) return true;
    if (run_.source_term.data != nullptr) apply_term<kStates>(run_.source_term, count, forward_);
    if (run_.target_term.data != nullptr) apply_term<kStates>(run_.target_term, count, backward_);
    return count_pairs<kStates>(whole);
  }

  /// to[k][item] ← what is `later` slices behind each item; `fill` beyond the items.
  template <int kStates>
  HWY_NOINLINE void gather(const SliceTerm& from, std::int64_t later, std::int64_t count, T fill, Lanes& to) const {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    std::int64_t done = 0;
    if constexpr (kStates == 2 || kStates == 4) {
      const T* const first = from.at<T>(slice_[0] + later, row_[0]);
      // Slice after slice, and row after row, may lie behind each other.
      const bool rows_follow = rows_ == 1 || (from.row_offset == nullptr && from.row_stride == kStates);
      for (const bool follow = from.state_stride == 1 && rows_follow && from.step_stride >= rows_ * kStates &&
                               from.at<T>(slice_[count - 1] + later, row_[count - 1]) == first + (count - 1) * kStates;
           follow && done + lanes() <= count; done += lanes()) {
        separate_rows<kStates>(first + done * kStates, to.at + done, most);
      }
    }
    for (std::int64_t i = done; i < count; ++i) {
      const T* const item = from.at<T>(slice_[i] + later, row_[i]);
      for (std::int64_t k = 0; k < states; ++k) to.at[k * most + i] = item[k * from.state_stride];
    }
    const std::int64_t whole = (count + lanes() - 1) / lanes() * lanes();
    for (std::int64_t k = 0; k < states; ++k) std::fill(to.at + k * most + count, to.at + k * most + whole, fill);
  }

  HWY_NOINLINE void scatter(const SlicePlace& place, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) put_row(place, slice_[i], row_[i], states_, answer_.at + i, most);
  }

  /// answer ← weight · forward ∘ backward / their sum; false where the messages hardly overlap.
  template <int kStates>
  HWY_NOINLINE bool posterior(const Lanes& forward, const Lanes& backward, std::int64_t whole) {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    V least = hn::Set(d_, T{1});
    for (std::int64_t i = 0; i < whole; i += lanes()) {
      V overlap = hn::Zero(d_);
      for (std::int64_t k = 0; k < states; ++k) {
        const V product = hn::Mul(load(forward, k, i), load(backward, k, i));
        hn::Store(product, d_, answer_.at + k * most + i);
        overlap = hn::Add(overlap, product);
      }
      least = hn::Min(least, overlap);
      const V scale = hn::Div(hn::Load(d_, weight_ + i), overlap);
      for (std::int64_t k = 0; k < states; ++k) {
        T* const place = answer_.at + k * most + i;
        hn::Store(hn::Mul(hn::Load(d_, place), scale), d_, place);
      }
    }
    return hn::GetLane(hn::MinOfLanes(d_, least)) >= least_overlap<T>;
  }

  /// messages ← messages ∘ exp(term − its largest entry).
  template <int kStates>
  HWY_NOINLINE void apply_term(const SliceTerm& term, std::int64_t count, Lanes& messages) {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    gather<kStates>(term, 0, count, T{0}, other_);
    const V lowest = hn::Set(d_, -std::numeric_limits<T>::infinity());
    for (std::int64_t i = 0; i < count; i += lanes()) {
      V top = lowest;
      for (std::int64_t k = 0; k < states; ++k) top = hn::Max(top, load(other_, k, i));
      top = hn::IfThenElseZero(hn::Gt(top, lowest), top);
      for (std::int64_t k = 0; k < states; ++k) {
        T* const place = messages.at + k * most + i;
        const V factor = Exp(d_, hn::Sub(load(other_, k, i), top));
        hn::Store(hn::Mul(hn::Load(d_, place), factor), d_, place);
      }
    }
  }

  /// sums += Σ forward(a) D(b), D being `backward` divided by Σ forward(a) W(a,b) backward(b).
  template <int kStates>
  HWY_NOINLINE bool count_pairs(std::int64_t whole) {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    V least = hn::Set(d_, T{1});
    for (std::int64_t i = 0; i < whole; i += lanes()) {
      V mass = hn::Zero(d_);
      for (std::int64_t a = 0; a < states; ++a) {
        V sum = hn::Zero(d_);
        for (std::int64_t b = 0; b < states; ++b) {
          sum = hn::MulAdd(hn::Set(d_, weights_[a * states + b]), load(backward_, b, i), sum);
        }
        mass = hn::MulAdd(load(forward_, a, i), sum, mass);
      }
      const V weight = hn::Load(d_, weight_ + i);
      const auto real = hn::Gt(weight, hn::Zero(d_));
      least = hn::Min(least, hn::IfThenElse(real, mass, least));
      const V scale = hn::IfThenElseZero(real, hn::Div(weight, mass));
      for (std::int64_t b = 0; b < states; ++b) {
        hn::Store(hn::Mul(load(backward_, b, i), scale), d_, backward_.at + b * most + i);
      }
    }
    if (!(hn::GetLane(hn::MinOfLanes(d_, least)) >= least_overlap<T>)) return false;
    for (std::int64_t a = 0; a < states; ++a) {
      for (std::int64_t b = 0; b < states; ++b) {
        T* const place = sums_ + (a * states + b) * lanes();
        V sum = hn::Load(d_, place);
        for (std::int64_t i = 0; i < whole; i += lanes()) {
          sum = hn::MulAdd(load(forward_, a, i), load(backward_, b, i), sum);
        }
        hn::Store(sum, d_, place);
      }
    }
    if (++chunks_ == most_chunks) add_sums();
    return true;
  }

  HWY_NOINLINE void add_sums() {
    for (std::int64_t at = 0; at < states_ * states_; ++at) {
      for (std::int64_t i = 0; i < lanes(); ++i) run_.totals[at] += static_cast<double>(sums_[at * lanes() + i]);
    }
    std::fill_n(sums_, states_ * states_ * lanes(), T{0});
    chunks_ = 0;
  }

  HWY_INLINE V load(const Lanes& from, std::int64_t k, std::int64_t i) const {
    return hn::Load(d_, from.at + k * most + i);
  }

  const PackedMatrix<T>& matrix_;
  const PosteriorRun& run_;
  const std::int64_t states_;
  const GemmTag<T> d_{};

  std::int64_t rows_ = 0;
  std::int64_t slice_[most], row_[most];
  alignas(64) T weight_[most];
  Lanes forward_, backward_, other_, answer_;
  T weights_[posterior_item_states * posterior_item_states];
  alignas(64) T sums_[posterior_item_states * posterior_item_states * PackedMatrix<T>::panel];
  std::int64_t chunks_ = 0;
  base::Pace pace_;
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
