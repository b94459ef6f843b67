// Compiles the search for bad entries for every SIMD target and picks this machine's at run time.
#include "kernels/check_kernels.hpp"

#include <algorithm>

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/check_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Looks at whole groups of vectors: look(at) is their mask. Returns where the rest begins, −1 where one is bad.
template <class T, class Look>
HWY_INLINE std::int64_t look_at_groups(std::int64_t count, const Look& look) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t at = 0;
  for (; at + 4 * lanes <= count; at += 4 * lanes) {
    const auto left = hn::And(look(at), look(at + lanes));
    const auto right = hn::And(look(at + 2 * lanes), look(at + 3 * lanes));
    if (!hn::AllTrue(d, hn::And(left, right))) return -1;
  }
  return at;
}

/// Nothing but finite numbers: products with zero are zero, and any other is never lost in their sum.
template <class T>
bool all_finite(const T* data, std::int64_t count) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr std::int64_t between_looks = 1024;  // vectors
  const auto zero = hn::Zero(d);
  std::int64_t at = 0;
  while (at + 4 * lanes <= count) {
    const std::int64_t end = at + std::min((count - at) / (4 * lanes) * (4 * lanes), between_looks * lanes);
    auto a = zero, b = zero, c = zero, e = zero;
    for (; at < end; at += 4 * lanes) {
      a = hn::MulAdd(hn::LoadU(d, data + at), zero, a);
      b = hn::MulAdd(hn::LoadU(d, data + at + lanes), zero, b);
      c = hn::MulAdd(hn::LoadU(d, data + at + 2 * lanes), zero, c);
      e = hn::MulAdd(hn::LoadU(d, data + at + 3 * lanes), zero, e);
    }
    const auto sum = hn::Add(hn::Add(a, b), hn::Add(c, e));
    if (!hn::AllTrue(d, hn::Eq(sum, zero))) return false;
  }
  for (; at < count; ++at) {
    if (!(data[at] * T{0} == 0)) return false;
  }
  return true;
}

template <class T>
bool all_within_in(const T* data, std::int64_t count, T low, T high) {
  if (low == hwy::LowestValue<T>() && high == hwy::HighestValue<T>()) return all_finite(data, count);
  const hn::ScalableTag<T> d;
  const auto least = hn::Set(d, low);
  const auto most = hn::Set(d, high);
  // NaN fails every comparison: a bound that nothing else fails is left out.
  const auto below = [&](std::int64_t at) HWY_ATTR { return hn::Le(hn::LoadU(d, data + at), most); };
  const auto between = [&](std::int64_t at) HWY_ATTR {
    const auto x = hn::LoadU(d, data + at);
    return hn::And(hn::Ge(x, least), hn::Le(x, most));
  };
  const bool is_bounded_below = low >= hwy::LowestValue<T>();
  std::int64_t at = is_bounded_below ? look_at_groups<T>(count, between) : look_at_groups<T>(count, below);
  if (at < 0) return false;
  for (; at < count; ++at) {
    if (!(data[at] >= low && data[at] <= high)) return false;
  }
  return true;
}

template <class T>
bool magnitude_within_in(const T* data, std::int64_t count, T low, T high, T& magnitude) {
  const hn::ScalableTag<T> d;
  using Vector = hn::Vec<decltype(d)>;
  const Vector least = hn::Set(d, low);
  const Vector most = hn::Set(d, high);
  const Vector finite = hn::Set(d, hwy::HighestValue<T>());
  Vector largest = hn::Set(d, magnitude);
  std::int64_t at = look_at_groups<T>(count, [&](std::int64_t from) HWY_ATTR {
    const Vector x = hn::LoadU(d, data + from);
    const Vector size = hn::Abs(x);
    largest = hn::Max(largest, hn::IfThenElseZero(hn::Le(size, finite), size));
    return hn::And(hn::Ge(x, least), hn::Le(x, most));
  });
  if (at < 0) return false;
  magnitude = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; at < count; ++at) {
    const T x = data[at];
    if (!(x >= low && x <= high)) return false;
    const T size = x < 0 ? -x : x;
    if (size <= hwy::HighestValue<T>() && size > magnitude) magnitude = size;
  }
  return true;
}

bool all_within_float32(const float* data, std::int64_t count, float low, float high) {
  return all_within_in(data, count, low, high);
}
bool all_within_float64(const double* data, std::int64_t count, double low, double high) {
  return all_within_in(data, count, low, high);
}
bool magnitude_within_float32(const float* data, std::int64_t count, float low, float high, float& magnitude) {
  return magnitude_within_in(data, count, low, high, magnitude);
}
bool magnitude_within_float64(const double* data, std::int64_t count, double low, double high, double& magnitude) {
  return magnitude_within_in(data, count, low, high, magnitude);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(all_within_float32);
HWY_EXPORT(all_within_float64);
HWY_EXPORT(magnitude_within_float32);
HWY_EXPORT(magnitude_within_float64);

bool all_within(const float* data, std::int64_t count, float low, float high) noexcept {
  return HWY_DYNAMIC_DISPATCH(all_within_float32)(data, count, low, high);
}

bool all_within(const double* data, std::int64_t count, double low, double high) noexcept {
  return HWY_DYNAMIC_DISPATCH(all_within_float64)(data, count, low, high);
}

bool all_within(const float* data, std::int64_t count, float low, float high, float& magnitude) noexcept {
  return HWY_DYNAMIC_DISPATCH(magnitude_within_float32)(data, count, low, high, magnitude);
}

bool all_within(const double* data, std::int64_t count, double low, double high, double& magnitude) noexcept {
  return HWY_DYNAMIC_DISPATCH(magnitude_within_float64)(data, count, low, high, magnitude);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
