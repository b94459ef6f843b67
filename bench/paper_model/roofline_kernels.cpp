// A blocked online log-sum-exp and a plain sum, both streaming and tuned by hand.
//
// Eight rows at a time are absorbed into a running maximum and a running sum, which is rescaled once for all eight. All
// is kept in units of log 2, so that one fused multiply-add takes an entry to the argument of 2^t. Its polynomial has a
// relative error of 7.5e-8 and, unlike the library's, no regard for NaN or results that are not normal numbers.
#include "paper_model/roofline_kernels.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "paper_model/roofline_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr float log2_of_e = 1.44269504088896341f;

/// 2^t for t ≤ 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V power_of_two(D d, V t) {
  const hn::RebindToSigned<D> bits;
  const V magic = hn::Set(d, 12582912.0f);  // 1.5 · 2^23: adding it leaves the nearest integer in the low bits
  t = hn::Max(t, hn::Set(d, -126.0f));
  const V k = hn::Add(t, magic);
  const V f = hn::Sub(t, hn::Sub(k, magic));
  V p = hn::Set(d, 1.327647198e-3f);
  p = hn::MulAdd(p, f, hn::Set(d, 9.675541334e-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 5.550713274e-2f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.402211972e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 6.931469671e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.000000072f));
  return hn::BitCast(d, hn::Add(hn::BitCast(bits, p), hn::ShiftLeft<23>(hn::BitCast(bits, k))));
}

/// Absorbs rows into all lanes' states.
template <int kRows, bool kFirst>
HWY_NOINLINE void absorb(const float* HWY_RESTRICT data, std::int64_t stride, std::int64_t lanes,
                         float* HWY_RESTRICT top, float* HWY_RESTRICT sum) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const V scale = hn::Set(d, log2_of_e);
  for (std::int64_t lane = 0; lane < lanes; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
    const float* from = data + lane;
    V high = hn::LoadU(d, from);
    HWY_UNROLL(8)
    for (int r = 1; r < kRows; ++r) high = hn::Max(high, hn::LoadU(d, from + r * stride));
    high = hn::Mul(high, scale);
    V total = hn::Zero(d);
    if constexpr (!kFirst) {
      const V old = hn::Load(d, top + lane);
      high = hn::Max(high, old);
      total = hn::Mul(hn::Load(d, sum + lane), power_of_two(d, hn::Sub(old, high)));
    }
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      total = hn::Add(total, power_of_two(d, hn::MulSub(hn::LoadU(d, from + r * stride), scale, high)));
    }
    hn::Store(high, d, top + lane);
    hn::Store(total, d, sum + lane);
  }
}

template <bool kFirst>
void absorb_some(std::int64_t rows, const float* data, std::int64_t stride, std::int64_t lanes, float* top,
                 float* sum) {
  switch (rows) {
    case 1:
      return absorb<1, kFirst>(data, stride, lanes, top, sum);
    case 2:
      return absorb<2, kFirst>(data, stride, lanes, top, sum);
    case 3:
      return absorb<3, kFirst>(data, stride, lanes, top, sum);
    case 4:
      return absorb<4, kFirst>(data, stride, lanes, top, sum);
    case 5:
      return absorb<5, kFirst>(data, stride, lanes, top, sum);
    case 6:
      return absorb<6, kFirst>(data, stride, lanes, top, sum);
    case 7:
      return absorb<7, kFirst>(data, stride, lanes, top, sum);
    default:
      return absorb<8, kFirst>(data, stride, lanes, top, sum);
  }
}

/// Σ (top + log2 sum) over lanes. Sums are multiplied in double first: 64 of at most 129 each are far from its limits.
double finish(std::int64_t lanes, const float* top, const float* sum) {
  constexpr int width = 16;
  double total = 0;
  for (std::int64_t begin = 0; begin < lanes; begin += 64 * width) {
    double tops[width] = {};
    double product[width];
    std::fill(product, product + width, 1.0);
    for (std::int64_t lane = begin; lane < std::min(lanes, begin + 64 * width); lane += width) {
      for (int w = 0; w < width; ++w) {
        tops[w] += static_cast<double>(top[lane + w]);
        product[w] *= static_cast<double>(sum[lane + w]);
      }
    }
    for (int w = 0; w < width; w += 2) total += tops[w] + tops[w + 1] + std::log2(product[w] * product[w + 1]);
  }
  return total;
}

double log_sum_exps(const float* data, std::int64_t stride, std::int64_t rows, std::int64_t lanes) {
  HWY_ALIGN float top[lanes_at_once];
  HWY_ALIGN float sum[lanes_at_once];
  absorb_some<true>(std::min<std::int64_t>(rows, 8), data, stride, lanes, top, sum);
  for (std::int64_t row = 8; row < rows; row += 8) {
    absorb_some<false>(std::min<std::int64_t>(rows - row, 8), data + row * stride, stride, lanes, top, sum);
  }
  return finish(lanes, top, sum) * 0.69314718055994531;
}

/// In memory order, into eight accumulators, so that neither latency nor rounding limits it.
double sum(const float* HWY_RESTRICT data, std::int64_t count) {
  const hn::CappedTag<float, 8> d;
  using V = hn::Vec<decltype(d)>;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t block = 4096;  // short enough for sums in float
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    V part[8] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d),
                 hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (std::int64_t n = begin; n < std::min(count, begin + block); n += 8 * width) {
      HWY_UNROLL(8)
      for (std::int64_t u = 0; u < 8; ++u) part[u] = hn::Add(part[u], hn::LoadU(d, data + n + u * width));
    }
    const V low = hn::Add(hn::Add(part[0], part[1]), hn::Add(part[2], part[3]));
    const V high = hn::Add(hn::Add(part[4], part[5]), hn::Add(part[6], part[7]));
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high))));
  }
  return total;
}

}  // namespace bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench {

HWY_EXPORT(log_sum_exps);
HWY_EXPORT(sum);

double log_sum_exps(const float* data, std::int64_t stride, std::int64_t rows, std::int64_t lanes) noexcept {
  return HWY_DYNAMIC_DISPATCH(log_sum_exps)(data, stride, rows, lanes);
}

double sum(const float* data, std::int64_t count) noexcept { return HWY_DYNAMIC_DISPATCH(sum)(data, count); }

}  // namespace bench
#endif
