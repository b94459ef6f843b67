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
bool all_within_in(const T* data, std::int64_t count, T low, T high) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto least = hn::Set(d, low);
  const auto most = hn::Set(d, high);
  // NaN fails every comparison.
  const auto good = [&](std::int64_t at) HWY_ATTR {
    const auto x = hn::LoadU(d, data + at);
    return hn::And(hn::Ge(x, least), hn::Le(x, most));
  };
  std::int64_t at = 0;
  for (; at + 4 * lanes <= count; at += 4 * lanes) {
    const auto left = hn::And(good(at), good(at + lanes));
    const auto right = hn::And(good(at + 2 * lanes), good(at + 3 * lanes));
    if (!hn::AllTrue(d, hn::And(left, right))) return false;
  }
  for (; at < count; ++at) {
    if (!(data[at] >= low && data[at] <= high)) return false;
  }
  return true;
}

bool all_within_float32(const float* data, std::int64_t count, float low, float high) {
  return all_within_in(data, count, low, high);
}

bool all_within_float64(const double* data, std::int64_t count, double low, double high) {
  return all_within_in(data, count, low, high);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(all_within_float32);
HWY_EXPORT(all_within_float64);

bool all_within(const float* data, std::int64_t count, float low, float high) noexcept {
  return HWY_DYNAMIC_DISPATCH(all_within_float32)(data, count, low, high);
}

bool all_within(const double* data, std::int64_t count, double low, double high) noexcept {
  return HWY_DYNAMIC_DISPATCH(all_within_float64)(data, count, low, high);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
