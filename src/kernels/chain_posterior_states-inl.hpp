// A chain's posteriors, slice by slice: each lane of a vector is a state.
#if defined(PLATED_KERNELS_CHAIN_POSTERIOR_STATES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_CHAIN_POSTERIOR_STATES_INL
#undef PLATED_KERNELS_CHAIN_POSTERIOR_STATES_INL
#else
#define PLATED_KERNELS_CHAIN_POSTERIOR_STATES_INL
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/watch.hpp"
#include "hwy/highway.h"
#include "kernels/chain_posterior.hpp"
#include "kernels/gemm_micro-inl.hpp"
#include "kernels/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// With A and B the forward and backward messages: P_t = A_t ∘ B_t / Z_t, Z_t = Σ A_t B_t. A pair's posterior is
/// A_t(a) W(a,b) e(b) B_{t+1}(b) / (c Z_{t+1}), where c, what was taken out of A_{t+1} = (A_t W) ∘ e / c, is recovered
/// from one state s that A_{t+1} holds well: c = e(s) (A_t W)(s) / A_{t+1}(s); where there is no e, from all of them,
/// by the sums of the rows of W. So a slice costs a column of W, not all of it, and what sums over slices is the outer
/// product of A_t with D_t = e ∘ B_{t+1} / (c Z_{t+1}).
template <class T>
class PosteriorStates {
 public:
  PosteriorStates(const PackedMatrix<T>& matrix, const PosteriorRun& run, std::byte* scratch)
      : matrix_(matrix),
        run_(run),
        states_(matrix.states()),
        // An odd number of cache lines, so that a column of the chunk spreads over the cache's sets.
        pitch_(matrix.width() + (matrix.width() / PackedMatrix<T>::panel % 2 == 0 ? PackedMatrix<T>::panel : 0)),
        sources_(reinterpret_cast<T*>(scratch)),
        targets_(sources_ + posterior_chunk * pitch_),
        answer_(targets_ + posterior_chunk * pitch_),
        row_sums_(answer_ + 3 * matrix.width()) {
    if (run.totals == nullptr || run.target_term.data != nullptr) return;
    std::fill_n(row_sums_, matrix.width(), T{0});
    for (std::int64_t b = 0; b < states_; ++b) {
      for (std::int64_t a = 0; a < states_; ++a) row_sums_[a] += matrix.column(b)[a] * matrix.column_scale()[b];
    }
  }

  bool run(std::int64_t first, std::int64_t last) {
    // Statistics are products of as many pairs of states; else a slice takes a few columns.
    const std::int64_t work = 32 + (run_.totals != nullptr ? states_ * states_ / 8 : 2 * states_);
    base::Pace pace;
    for (std::int64_t s = 0; s <= run_.steps; ++s) {
      for (std::int64_t r = first; r < last; ++r) {
        if (pace.stops(work) || !answer(s, r)) return false;
      }
    }
    if (count_ > 0) add_chunk();
    // Sums of fewer than posterior_chunk numbers up to this stay finite.
    constexpr T most = sizeof(T) == 4 ? T(1e30) : T(1e300);
    return hn::GetLane(hn::SumOfLanes(d_, hn::Load(d_, checked_))) < most;
  }

 private:
  using V = GemmVec<T>;

  /// What is asked about state s of a row.
  HWY_INLINE bool answer(std::int64_t s, std::int64_t r) {
    const bool asked_source = s < run_.steps && run_.before.data != nullptr;
    const bool asked_target = s > 0 && run_.after.data != nullptr;
    const bool source = s < run_.steps && run_.counts(s, r);
    const bool target = s > 0 && run_.counts(s - 1, r);
    const T zero = 0;
    if (asked_source && !source) put_row(run_.before, s, r, states_, &zero, 0);
    if (asked_target && !target) put_row(run_.after, s - 1, r, states_, &zero, 0);
    if (!source && !target) return true;
    const T* const forward = run_.forward.at<T>(s, r);
    const T* const backward = run_.backward.at<T>(s, r);
    const T overlap = dot(forward, backward);
    if (!(overlap >= least_overlap<T>)) return false;
    const T scale = static_cast<T>(run_.weight[r]) / overlap;
    if (asked_source && source) write(run_.before, s, r, forward, backward, scale);
    if (asked_target && target) write(run_.after, s - 1, r, forward, backward, scale);
    if (run_.totals == nullptr || !target) return true;
    return count_pairs(s - 1, r, forward, backward, scale);
  }

  HWY_INLINE V load(const T* from, std::int64_t at) const { return load_of_row(from, states_, at, T{0}); }

  HWY_INLINE T dot(const T* a, const T* b) const {
    V even = hn::Zero(d_), odd = even;
    std::int64_t v = 0;
    for (; v + lanes_ < states_; v += 2 * lanes_) {
      even = hn::MulAdd(load(a, v), load(b, v), even);
      odd = hn::MulAdd(load(a, v + lanes_), load(b, v + lanes_), odd);
    }
    if (v < states_) even = hn::MulAdd(load(a, v), load(b, v), even);
    return hn::GetLane(hn::SumOfLanes(d_, hn::Add(even, odd)));
  }

  HWY_INLINE T total(const T* a) const {
    V sum = load(a, 0);
    for (std::int64_t v = lanes_; v < states_; v += lanes_) sum = hn::Add(sum, load(a, v));
    return hn::GetLane(hn::SumOfLanes(d_, sum));
  }

  HWY_INLINE void write(const SlicePlace& place, std::int64_t slice, std::int64_t r, const T* forward,
                        const T* backward, T scale) const {
    const bool direct = place.state_stride == 1 && (place.dtype == Dtype::float32) == (sizeof(T) == 4);
    T* const to = direct ? place.at<T>(slice, r) : answer_;
    const V times = hn::Set(d_, scale);
    store_row(to, states_,
              [&](std::int64_t v) HWY_ATTR { return hn::Mul(hn::Mul(load(forward, v), load(backward, v)), times); });
    if (!direct) put_row(place, slice, r, states_, to, 1);
  }

  /// A state whose entry is not small; −1 if there is none.
  HWY_INLINE std::int64_t large_entry(const T* message) const {
    for (std::int64_t v = 0; v < states_; v += lanes_) {
      const std::int64_t lane = hn::FindFirstTrue(d_, hn::Ge(load(message, v), hn::Set(d_, T{0.5})));
      if (lane >= 0) return v + lane;
    }
    return -1;
  }

  /// A term's entries one after the other.
  HWY_INLINE const T* entries(const SliceTerm& term, std::int64_t slice, std::int64_t r, T* copy) const {
    return contiguous(term.at<T>(slice, r), states_, term.state_stride, copy);
  }

  /// Puts slice t of a row into the chunk: A_t and D_t.
  HWY_INLINE bool count_pairs(std::int64_t t, std::int64_t r, const T* forward, const T* backward, T scale) {
    T* const source = sources_ + count_ * pitch_;
    T* const target = targets_ + count_ * pitch_;
    const bool has_term = run_.target_term.data != nullptr;
    const std::int64_t large = has_term ? large_entry(forward) : 0;
    if (large < 0) return false;
    const T sum = copy_source(t, r, source, has_term ? matrix_.column(large) : row_sums_);
    if (!(sum >= least_overlap<T>)) return false;
    const T rest = scale * (has_term ? forward[large] : total(forward)) / sum;
    V check = hn::Load(d_, checked_);
    const auto put = [&](std::int64_t v, V factor) HWY_ATTR {
      const V b = load(backward, v);
      // Of a state that cannot be, the factor may be anything.
      const auto possible = hn::Gt(hn::Min(load(forward, v), b), hn::Zero(d_));
      const V x = hn::IfThenElseZero(possible, hn::Mul(hn::Mul(b, hn::Set(d_, rest)), factor));
      check = hn::Add(x, check);
      hn::StoreU(x, d_, target + v);
    };
    if (!has_term) {
      for (std::int64_t v = 0; v < states_; v += lanes_) put(v, hn::Set(d_, T{1}));
    } else {
      const T* const term = entries(run_.target_term, t, r, answer_ + matrix_.width());
      const V shift = hn::Set(d_, term[large]), column_shift = hn::Set(d_, matrix_.column_shift()[large]);
      for (std::int64_t v = 0; v < states_; v += lanes_) {
        put(v, Exp(d_, hn::Sub(hn::Sub(load(term, v), shift), column_shift)));
      }
    }
    hn::Store(check, d_, checked_);
    if (++count_ == posterior_chunk) add_chunk();
    return true;
  }

  /// source ← A_t with its factor; returns its product with a column of the matrix.
  HWY_INLINE T copy_source(std::int64_t t, std::int64_t r, T* source, const T* column) {
    const T* const from = run_.forward.at<T>(t, r);
    V sum = hn::Zero(d_);
    const auto put = [&](std::int64_t v, V x) HWY_ATTR {
      hn::StoreU(x, d_, source + v);
      sum = hn::MulAdd(x, hn::LoadU(d_, column + v), sum);
    };
    if (run_.source_term.data == nullptr) {
      for (std::int64_t v = 0; v < states_; v += lanes_) put(v, load(from, v));
    } else {
      const T* const term = entries(run_.source_term, t, r, answer_ + 2 * matrix_.width());
      const V none = hn::Set(d_, -std::numeric_limits<T>::infinity());
      // Of states that can be.
      const auto possible = [&](std::int64_t v) HWY_ATTR {
        return hn::IfThenElse(hn::Gt(load(from, v), hn::Zero(d_)), load(term, v), none);
      };
      V top = none;
      for (std::int64_t v = 0; v < states_; v += lanes_) top = hn::Max(top, possible(v));
      top = hn::MaxOfLanes(d_, top);
      for (std::int64_t v = 0; v < states_; v += lanes_) {
        const V logs = possible(v);
        put(v, hn::IfThenElseZero(hn::Gt(logs, none), hn::Mul(load(from, v), ExpOfShifted(d_, hn::Sub(logs, top)))));
      }
    }
    return hn::GetLane(hn::SumOfLanes(d_, sum));
  }

  /// totals += Σ A_tᵀ D_t over the chunk.
  HWY_NOINLINE void add_chunk() {
    HWY_ALIGN T tile[6 * 2 * PackedMatrix<T>::panel];
    const hn::CappedTag<double, 8> dd;
    const std::int64_t doubles = static_cast<std::int64_t>(hn::Lanes(dd));
    for (std::int64_t b = 0; b < states_; b += 2 * lanes_) {
      const std::int64_t vectors = b + lanes_ < states_ ? 2 : 1;
      const std::int64_t columns = std::min(vectors * lanes_, states_ - b);
      for (std::int64_t a = 0; a < states_; a += 6) {
        const std::int64_t rows = std::min<std::int64_t>(6, states_ - a);
        micro_kernel_for<SumOfProducts<T>, T>(rows, vectors)(
            MicroTile<T>{count_, sources_ + a, 1, pitch_, targets_ + b, pitch_, tile, vectors * lanes_, false});
        for (std::int64_t i = 0; i < rows; ++i) {
          double* const to = run_.totals + (a + i) * states_ + b;
          const T* const from = tile + i * vectors * lanes_;
          std::int64_t j = 0;
          for (; j + doubles <= columns; j += doubles) {
            hn::StoreU(hn::Add(hn::LoadU(dd, to + j), load_doubles(dd, from + j)), dd, to + j);
          }
          for (; j < columns; ++j) to[j] += static_cast<double>(from[j]);
        }
      }
    }
    count_ = 0;
  }

  const PackedMatrix<T>& matrix_;
  const PosteriorRun& run_;
  const std::int64_t states_, pitch_;
  T *const sources_, *const targets_, *const answer_, *const row_sums_;
  std::int64_t count_ = 0;
  const GemmTag<T> d_{};
  const std::int64_t lanes_ = static_cast<std::int64_t>(hn::Lanes(d_));
  alignas(64) T checked_[PackedMatrix<T>::panel] = {};
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
