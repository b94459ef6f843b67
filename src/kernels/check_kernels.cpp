// Compiles the search for bad entries for every SIMD target and picks this machine's at run time.
#include "kernels/check_kernels.hpp"

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/check_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
bool all_within_in(const T* data, std::int64_t count, T low, T high, T& magnitude) {
  const hn::ScalableTag<T> d;
  using Vector = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Vector least = hn::Set(d, low);
  const Vector most = hn::Set(d, high);
  const Vector finite = hn::Set(d, hwy::HighestValue<T>());
  Vector largest_even = hn::Set(d, magnitude);
  Vector largest_odd = largest_even;
  // NaN fails every comparison.
  const auto good = [&](std::int64_t at, Vector& largest) HWY_ATTR {
    const Vector x = hn::LoadU(d, data + at);
    const Vector size = hn::Abs(x);
    largest = hn::Max(largest, hn::IfThenElseZero(hn::Le(size, finite), size));
    return hn::And(hn::Ge(x, least), hn::Le(x, most));
  };
  std::int64_t at = 0;
  for (; at + 4 * lanes <= count; at += 4 * lanes) {
    const auto left = hn::And(good(at, largest_even), good(at + lanes, largest_odd));
    const auto right = hn::And(good(at + 2 * lanes, largest_even), good(at + 3 * lanes, largest_odd));
    if (!hn::AllTrue(d, hn::And(left, right))) return false;
  }
  magnitude = hn::GetLane(hn::MaxOfLanes(d, hn::Max(largest_even, largest_odd)));
  for (; at < count; ++at) {
    const T x = data[at];
    if (!(x >= low && x <= high)) return false;
    const T size = x < 0 ? -x : x;
    if (size <= hwy::HighestValue<T>() && size > magnitude) magnitude = size;
  }
  return true;
}

bool all_within_float32(const float* data, std::int64_t count, float low, float high, float& magnitude) {
  return all_within_in(data, count, low, high, magnitude);
}

bool all_within_float64(const double* data, std::int64_t count, double low, double high, double& magnitude) {
  return all_within_in(data, count, low, high, magnitude);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(all_within_float32);
HWY_EXPORT(all_within_float64);

bool all_within(const float* data, std::int64_t count, float low, float high, float& magnitude) noexcept {
  return HWY_DYNAMIC_DISPATCH(all_within_float32)(data, count, low, high, magnitude);
}

bool all_within(const double* data, std::int64_t count, double low, double high, double& magnitude) noexcept {
  return HWY_DYNAMIC_DISPATCH(all_within_float64)(data, count, low, high, magnitude);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
