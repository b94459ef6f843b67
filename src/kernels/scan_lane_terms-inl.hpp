// Loads the terms of the next few steps into lanes.
#if defined(PLATED_KERNELS_SCAN_LANE_TERMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SCAN_LANE_TERMS_INL
#undef PLATED_KERNELS_SCAN_LANE_TERMS_INL
#else
#define PLATED_KERNELS_SCAN_LANE_TERMS_INL
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/gemm_algebra-inl.hpp"
#include "kernels/scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// More states than this fill vectors of their own.
inline constexpr std::int64_t scan_lane_states = 8;

/// The terms of `ahead` steps at once: a vector that is read soon after its entries were written one by one must wait
/// until they have left the store buffer, and with them all the work before.
template <class T>
class ScanLaneTerms {
 public:
  static constexpr std::int64_t most_lanes = ScanMatrix<T>::panel;
  static constexpr std::int64_t most_entries = scan_lane_states * most_lanes;
  static constexpr std::int64_t ahead = 8;

  ScanLaneTerms(const ScanRun& run, std::int64_t states) : run_(run), states_(states) {}

  void enter(std::int64_t first, std::int64_t rows) {
    first_ = first;
    rows_ = rows;
    std::fill_n(before_, ahead * most_entries, T{0});
    std::fill_n(after_, ahead * most_entries, T{0});
    std::fill_n(staging_, ahead * most_entries, T{0});
  }

  /// Brings the steps from s on, which is a multiple of `ahead`. Slices that do not exist are not read.
  template <int kStates>
  HWY_INLINE void gather(std::int64_t s) {
    gather_term<kStates>(run_.before, s, before_);
    gather_term<kStates>(run_.after, s, after_);
  }

  /// Entry (state, lane) of step s is at state · lanes + lane; later steps follow `most_entries` apart.
  [[nodiscard]] HWY_INLINE const T* before(std::int64_t s) const { return before_ + s % ahead * most_entries; }
  [[nodiscard]] HWY_INLINE const T* after(std::int64_t s) const { return after_ + s % ahead * most_entries; }

 private:
  /// kStates: 2, 4, or 0 for any other number.
  template <int kStates>
  HWY_INLINE void gather_term(const SliceTerm& slices, std::int64_t s, T* HWY_RESTRICT to) {
    if (slices.data == nullptr) return;
    const std::int64_t count = std::min(ahead, run_.steps - s);
    for (std::int64_t i = 0; i < rows_; ++i) {
      const T* from = static_cast<const T*>(slices.data) + s * slices.step_stride;
      if (slices.row_offset != nullptr) from += slices.row_offset[first_ + i];
      // Slices that exist are the first ones, or, backwards in time, the last ones.
      const std::int64_t real = count_existing(s, count, i);
      const std::int64_t begin = run_.direction > 0 ? 0 : count - real;
      for (std::int64_t k = begin; k < begin + real; ++k) {
        const T* const entries = from + k * slices.step_stride;
        if constexpr (kStates == 0) {
          T* const place = to + k * most_entries + i;
          for (std::int64_t b = 0; b < states_; ++b) place[b * lanes_] = entries[b * slices.state_stride];
        } else {
          stage<kStates>(entries, slices.state_stride, staging_ + (k * most_lanes + i) * kStates);
        }
      }
    }
    if constexpr (kStates > 0) {
      for (std::int64_t k = 0; k < count; ++k) {
        put_apart<kStates>(staging_ + k * most_lanes * kStates, to + k * most_entries);
      }
    }
  }

  /// A row's states are moved together, and vectors put them apart.
  template <int kStates>
  static HWY_INLINE void stage(const T* entries, std::int64_t stride, T* to) {
    if (HWY_LIKELY(stride == 1)) {
      std::memcpy(to, entries, kStates * sizeof(T));
    } else {
      for (std::int64_t b = 0; b < kStates; ++b) to[b] = entries[b * stride];
    }
  }

  template <int kStates>
  HWY_INLINE void put_apart(const T* from, T* to) const {
    GemmVec<T> v0, v1, v2, v3;
    if constexpr (kStates == 2) {
      hn::LoadInterleaved2(d_, from, v0, v1);
    } else {
      hn::LoadInterleaved4(d_, from, v0, v1, v2, v3);
      hn::Store(v2, d_, to + 2 * lanes_);
      hn::Store(v3, d_, to + 3 * lanes_);
    }
    hn::Store(v0, d_, to);
    hn::Store(v1, d_, to + lanes_);
  }

  /// How many of the slices of steps s … s + count − 1 a row has.
  HWY_INLINE std::int64_t count_existing(std::int64_t s, std::int64_t count, std::int64_t i) const {
    if (run_.lengths == nullptr) return count;
    const std::int64_t earliest = run_.first_step + (run_.direction > 0 ? s : -(s + count - 1));
    return std::clamp<std::int64_t>(run_.lengths[first_ + i] - earliest, 0, count);
  }

  const ScanRun& run_;
  const std::int64_t states_;
  const GemmTag<T> d_{};
  const std::int64_t lanes_ = static_cast<std::int64_t>(hn::Lanes(d_));
  std::int64_t first_ = 0, rows_ = 0;
  alignas(64) T before_[ahead * most_entries];
  alignas(64) T after_[ahead * most_entries];
  alignas(64) T staging_[ahead * most_entries];  // entry (step, lane, state)
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
