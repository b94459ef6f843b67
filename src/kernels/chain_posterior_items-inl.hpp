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
#include "kernels/chain_posterior_access-inl.hpp"
#include "kernels/chain_posterior_kernels.hpp"
#include "kernels/gemm_algebra-inl.hpp"
#include "kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// More states than this fill vectors of their own.
inline constexpr std::int64_t posterior_item_states = 8;

/// Items, slices of rows that exist, are gathered into lanes, and all steps of the arithmetic done for many of them.
template <class T>
class PosteriorItems {
 public:
  PosteriorItems(const PosteriorMatrix<T>& matrix, const PosteriorRun& run)
      : matrix_(matrix), run_(run), at_{run, matrix.states()}, states_(matrix.states()) {}

  bool run(std::int64_t first, std::int64_t last) {
    switch (states_) {
      case 2:
        return run_items<2>(first, last);
      case 4:
        return run_items<4>(first, last);
      case 8:
        return run_items<8>(first, last);
      default:
        return run_items<0>(first, last);
    }
  }

 private:
  using V = GemmVec<T>;
  static constexpr std::int64_t most = 64;  // items at once
  // Chunks of items whose statistics are added up in T.
  static constexpr std::int64_t most_chunks = 16;

  struct Lanes {
    alignas(64) T at[posterior_item_states * most];
  };

  /// kStates: the number of states where the compiler is to know it, else 0.
  template <int kStates>
  bool run_items(std::int64_t first, std::int64_t last) {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    if (run_.totals != nullptr) {
      std::fill_n(sums_, states * states * lanes_, T{0});
      for (std::int64_t a = 0; a < states; ++a) {
        for (std::int64_t b = 0; b < states; ++b) {
          weights_[a * states + b] = matrix_.column(b)[a] * matrix_.column_scale()[b];
        }
      }
    }
    find_layout(first, last);
    count_ = 0;
    if (by_row_) {
      for (std::int64_t t = 0; t < run_.steps; ++t) {
        for (std::int64_t r = first; r < last; ++r) {
          if (!add_item<kStates>(t, r)) return false;
        }
      }
    } else {
      for (std::int64_t r = first; r < last; ++r) {
        for (std::int64_t t = 0; t < run_.steps; ++t) {
          if (!add_item<kStates>(t, r)) return false;
        }
      }
    }
    if (count_ > 0 && !do_items<kStates>(count_)) return false;
    if (run_.totals != nullptr) add_sums(states);
    return true;
  }

  template <int kStates>
  HWY_INLINE bool add_item(std::int64_t t, std::int64_t r) {
    if (HWY_UNLIKELY(!(run_.weight[r] > 0) || !at_.exists(t, r))) {
      if (run_.before.data != nullptr) at_.put_zeros(run_.before, t, r);
      if (run_.after.data != nullptr) at_.put_zeros(run_.after, t, r);
      return !pace_.stops(8);
    }
    slice_[count_] = t;
    row_[count_] = r;
    if (++count_ < most) return true;
    count_ = 0;
    return !pace_.stops(most * (8 + states_ * states_)) && do_items<kStates>(most);
  }

  /// Items follow each other as the messages do in memory: row after row, or step after step.
  void find_layout(std::int64_t first, std::int64_t last) {
    rows_ = last - first;
    first_ = first;
    by_row_ = run_.forward.step_stride != states_ || rows_ == 0;
    forward_adjacent_ = are_adjacent(run_.forward.row_offset, true);
    backward_adjacent_ = are_adjacent(run_.backward.row_offset, true);
    before_adjacent_ = are_adjacent(run_.before.row_offset, true);
    after_adjacent_ = are_adjacent(run_.after.row_offset, true);
    source_adjacent_ = are_adjacent(run_.source_term.row_offset, false);
    target_adjacent_ = are_adjacent(run_.target_term.row_offset, false);
  }

  [[nodiscard]] bool are_adjacent(const std::int64_t* row_offset, bool otherwise) const {
    if (row_offset == nullptr) return otherwise || rows_ == 1;
    for (std::int64_t r = first_ + 1; r < first_ + rows_; ++r) {
      if (row_offset[r] != row_offset[r - 1] + states_) return false;
    }
    return true;
  }

  /// Whether all items of the chunk lie one after the other in such memory.
  [[nodiscard]] HWY_INLINE bool follow(std::int64_t count, std::int64_t step_stride, bool rows_adjacent) const {
    const std::int64_t slices = slice_[count - 1] - slice_[0], rows = row_[count - 1] - row_[0];
    if (!by_row_) return rows == 0 && slices == count - 1 && step_stride == states_;
    return rows_adjacent && slices * rows_ + rows == count - 1 && (slices == 0 || step_stride == rows_ * states_);
  }

  template <int kStates>
  HWY_INLINE bool do_items(std::int64_t count) {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    const std::int64_t whole = (count + lanes_ - 1) / lanes_ * lanes_;
    const bool before = run_.before.data != nullptr, after = run_.after.data != nullptr;
    const bool pairs = run_.totals != nullptr;
    for (std::int64_t i = 0; i < count; ++i) weight_[i] = static_cast<T>(run_.weight[row_[i]]);
    std::fill(weight_ + count, weight_ + whole, T{0});
    if (before || pairs) gather<kStates>(run_.forward, forward_adjacent_, 0, count, forward_);
    if (after || pairs) gather<kStates>(run_.backward, backward_adjacent_, 1, count, backward_);
    if (before) {
      gather<kStates>(run_.backward, backward_adjacent_, 0, count, other_);
      if (!posterior<kStates>(forward_, other_, whole)) return false;
      scatter<kStates>(run_.before, before_adjacent_, count);
    }
    if (after) {
      gather<kStates>(run_.forward, forward_adjacent_, 1, count, other_);
      if (!posterior<kStates>(other_, backward_, whole)) return false;
      scatter<kStates>(run_.after, after_adjacent_, count);
    }
    if (!pairs) return true;
    if (run_.source_term.data != nullptr) {
      gather_term<kStates>(run_.source_term, source_adjacent_, count);
      apply_term(forward_, whole, states);
    }
    if (run_.target_term.data != nullptr) {
      gather_term<kStates>(run_.target_term, target_adjacent_, count);
      apply_term(backward_, whole, states);
    }
    return count_pairs<kStates>(whole);
  }

  /// to[k][item] ← the message at the state before (0) or after (1) each item; 1 beyond the items.
  template <int kStates>
  HWY_INLINE void gather(const LinearMessages& messages, bool adjacent, std::int64_t later, std::int64_t count,
                         Lanes& to) const {
    const bool together = follow(count, messages.step_stride, adjacent);
    gather_items<kStates>(together, count, T{1}, to, 1,
                          [&](std::int64_t i) HWY_ATTR { return at_.message(messages, slice_[i] + later, row_[i]); });
  }

  /// The same of a term, 0 beyond the items.
  template <int kStates>
  HWY_INLINE void gather_term(const SliceTerm& term, bool adjacent, std::int64_t count) {
    const bool together = term.state_stride == 1 && follow(count, term.step_stride, adjacent);
    gather_items<kStates>(together, count, T{0}, other_, term.state_stride,
                          [&](std::int64_t i) HWY_ATTR { return at_.term(term, slice_[i], row_[i]); });
  }

  /// together: what item(0) points to is followed by all other items'.
  template <int kStates, class Item>
  HWY_INLINE void gather_items(bool together, std::int64_t count, T fill, Lanes& to, std::int64_t stride,
                               const Item& item) const {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    std::int64_t done = 0;
    if constexpr (kStates == 2 || kStates == 4) {
      const T* const from = item(0);
      for (; together && done + lanes_ <= count; done += lanes_) {
        V v0, v1, v2, v3;
        if constexpr (kStates == 2) {
          hn::LoadInterleaved2(d_, from + done * 2, v0, v1);
        } else {
          hn::LoadInterleaved4(d_, from + done * 4, v0, v1, v2, v3);
          hn::Store(v2, d_, to.at + 2 * most + done);
          hn::Store(v3, d_, to.at + 3 * most + done);
        }
        hn::Store(v0, d_, to.at + done);
        hn::Store(v1, d_, to.at + most + done);
      }
    }
    if (done == count) return;
    for (std::int64_t i = done; i < count; ++i) {
      const T* const from = item(i);
      for (std::int64_t k = 0; k < states; ++k) to.at[k * most + i] = from[k * stride];
    }
    const std::int64_t whole = (count + lanes_ - 1) / lanes_ * lanes_;
    for (std::int64_t k = 0; k < states; ++k) std::fill(to.at + k * most + count, to.at + k * most + whole, fill);
  }

  template <int kStates>
  HWY_INLINE void scatter(const PosteriorPlace& place, bool adjacent, std::int64_t count) const {
    std::int64_t done = 0;
    if constexpr (kStates == 2 || kStates == 4) {
      const bool together = place.state_stride == 1 && (place.dtype == Dtype::float32) == (sizeof(T) == 4) &&
                            follow(count, place.step_stride, adjacent);
      T* const to = static_cast<T*>(place.data) + (together ? at_.answer_at(place, slice_[0], row_[0]) : 0);
      for (; together && done + lanes_ <= count; done += lanes_) {
        if constexpr (kStates == 2) {
          hn::StoreInterleaved2(load(answer_, 0, done), load(answer_, 1, done), d_, to + done * 2);
        } else {
          hn::StoreInterleaved4(load(answer_, 0, done), load(answer_, 1, done), load(answer_, 2, done),
                                load(answer_, 3, done), d_, to + done * 4);
        }
      }
    }
    for (std::int64_t i = done; i < count; ++i) at_.put(place, slice_[i], row_[i], answer_.at + i, most);
  }

  /// answer ← weight · forward ∘ backward / their sum; false where the messages hardly overlap.
  template <int kStates>
  HWY_INLINE bool posterior(const Lanes& forward, const Lanes& backward, std::int64_t whole) {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    V least = hn::Set(d_, T{1});
    for (std::int64_t i = 0; i < whole; i += lanes_) {
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

  /// messages ← messages ∘ exp(term − its largest entry), the term being in `other_`.
  HWY_INLINE void apply_term(Lanes& messages, std::int64_t whole, std::int64_t states) const {
    const V lowest = hn::Set(d_, -std::numeric_limits<T>::infinity());
    for (std::int64_t i = 0; i < whole; i += lanes_) {
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
  HWY_INLINE bool count_pairs(std::int64_t whole) {
    const std::int64_t states = kStates > 0 ? kStates : states_;
    V least = hn::Set(d_, T{1});
    for (std::int64_t i = 0; i < whole; i += lanes_) {
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
        T* const place = sums_ + (a * states + b) * lanes_;
        V sum = hn::Load(d_, place);
        for (std::int64_t i = 0; i < whole; i += lanes_) {
          sum = hn::MulAdd(load(forward_, a, i), load(backward_, b, i), sum);
        }
        hn::Store(sum, d_, place);
      }
    }
    if (++chunks_ == most_chunks) add_sums(states);
    return true;
  }

  HWY_NOINLINE void add_sums(std::int64_t states) {
    for (std::int64_t at = 0; at < states * states; ++at) {
      for (std::int64_t i = 0; i < lanes_; ++i) run_.totals[at] += static_cast<double>(sums_[at * lanes_ + i]);
    }
    std::fill_n(sums_, states * states * lanes_, T{0});
    chunks_ = 0;
  }

  HWY_INLINE V load(const Lanes& from, std::int64_t k, std::int64_t i) const {
    return hn::Load(d_, from.at + k * most + i);
  }

  const PosteriorMatrix<T>& matrix_;
  const PosteriorRun& run_;
  const PosteriorAccess<T> at_;
  const std::int64_t states_;
  const GemmTag<T> d_{};
  const std::int64_t lanes_ = static_cast<std::int64_t>(hn::Lanes(d_));

  std::int64_t first_ = 0, rows_ = 0, count_ = 0;
  bool by_row_ = true;  // items go through the rows of a slice before the next slice
  bool forward_adjacent_, backward_adjacent_, before_adjacent_, after_adjacent_, source_adjacent_, target_adjacent_;
  std::int64_t slice_[most], row_[most];
  alignas(64) T weight_[most];
  Lanes forward_, backward_, other_, answer_;
  T weights_[posterior_item_states * posterior_item_states];
  alignas(64) T sums_[posterior_item_states * posterior_item_states * PosteriorMatrix<T>::panel];
  std::int64_t chunks_ = 0;
  base::Pace pace_;
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
