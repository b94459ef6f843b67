// Moves the terms of a few steps from the rows' memory to lanes.
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
#include "kernels/rows-inl.hpp"
#include "kernels/scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// More states than this fill vectors of their own.
inline constexpr std::int64_t scan_lane_states = 8;

/// Rows side by side: entry (state, row) is at state · lanes + row.
template <class T>
struct LaneLayout {
  static constexpr std::int64_t most_lanes = PackedMatrix<T>::panel;
  static constexpr std::int64_t most_entries = scan_lane_states * most_lanes;
  // Steps at once: a vector that is read soon after its entries were written one by one must wait until they have left
  // the store buffer, and with them all the work before.
  static constexpr std::int64_t ahead = 8;
};

/// to[k · most_entries …] ← the entries of steps s + k for 0 ≤ k < count, in lanes. Slices that do not exist are not
/// read. kStates: 2, 4, or 0 for any other number. Vectors put apart what `staging` holds row by row.
template <class T, int kStates>
HWY_NOINLINE void gather_lanes(const ScanRun& run, const SliceTerm& slices, std::int64_t s, std::int64_t count,
                               std::int64_t first, std::int64_t rows, std::int64_t states, T* HWY_RESTRICT staging,
                               T* HWY_RESTRICT to) {
  using Layout = LaneLayout<T>;
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < rows; ++i) {
    // Slices that exist are the first ones, or, backwards in time, the last ones.
    const T* const from = slices.at<T>(s, first + i);
    std::int64_t begin = 0, end = count;
    while (begin < end && !run.exists(s + begin, first + i)) ++begin;
    while (begin < end && !run.exists(s + end - 1, first + i)) --end;
    for (std::int64_t k = begin; k < end; ++k) {
      const T* const entries = from + k * slices.step_stride;
      if constexpr (kStates == 0) {
        T* const place = to + k * Layout::most_entries + i;
        for (std::int64_t b = 0; b < states; ++b) place[b * lanes] = entries[b * slices.state_stride];
      } else {
        T* const place = staging + (k * Layout::most_lanes + i) * kStates;
        if (HWY_LIKELY(slices.state_stride == 1)) {
          std::memcpy(place, entries, kStates * sizeof(T));
        } else {
          for (std::int64_t b = 0; b < kStates; ++b) place[b] = entries[b * slices.state_stride];
        }
      }
    }
  }
  for (std::int64_t k = 0; k < count && kStates > 0; ++k) {
    if constexpr (kStates > 0) {
      separate_rows<kStates>(staging + k * Layout::most_lanes * kStates, to + k * Layout::most_entries, lanes);
    }
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
