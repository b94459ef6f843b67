// The addresses of a slice's entries that a chain's posteriors read and write.
#if defined(PLATED_KERNELS_CHAIN_POSTERIOR_ACCESS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_CHAIN_POSTERIOR_ACCESS_INL
#undef PLATED_KERNELS_CHAIN_POSTERIOR_ACCESS_INL
#else
#define PLATED_KERNELS_CHAIN_POSTERIOR_ACCESS_INL
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/chain_posterior.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// Entries of messages are flushed to 0 below the normal range. If forward and backward messages overlap by at least
/// this, what was flushed had a posterior below 1e-17, and so had its pairs.
template <class T>
inline constexpr T least_overlap = sizeof(T) == 4 ? T(1e-20) : T(1e-250);

/// Sums of fewer than posterior_chunk numbers up to this stay finite.
template <class T>
inline constexpr T most_statistic = sizeof(T) == 4 ? T(1e30) : T(1e300);

template <class T>
struct PosteriorAccess {
  const PosteriorRun& run;
  std::int64_t states;

  [[nodiscard]] HWY_INLINE bool exists(std::int64_t slice, std::int64_t row) const {
    return run.lengths == nullptr || run.lengths[row] > run.first_step + slice;
  }
  /// Whether slice after slice, and row after row of the first `rows`, lie behind each other.
  [[nodiscard]] HWY_INLINE bool follow(const SliceTerm& from, std::int64_t rows) const {
    const bool rows_follow = rows == 1 || (from.row_offset == nullptr && from.row_stride == states);
    return from.state_stride == 1 && rows_follow && from.step_stride >= rows * states;
  }

  /// place[slice, row, k] ← from[k · stride].
  HWY_INLINE void put(const SlicePlace& place, std::int64_t slice, std::int64_t row, const T* from,
                      std::int64_t stride) const {
    if (place.dtype == Dtype::float32) {
      copy(place.at<float>(slice, row), place.state_stride, from, stride);
    } else {
      copy(place.at<double>(slice, row), place.state_stride, from, stride);
    }
  }
  void put_zeros(const SlicePlace& place, std::int64_t slice, std::int64_t row) const {
    const T zero = 0;
    put(place, slice, row, &zero, 0);
  }

 private:
  template <class To>
  HWY_INLINE void copy(To* to, std::int64_t to_stride, const T* from, std::int64_t stride) const {
    for (std::int64_t k = 0; k < states; ++k) to[k * to_stride] = static_cast<To>(from[k * stride]);
  }
};

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
