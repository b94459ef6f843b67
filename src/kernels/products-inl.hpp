// Products over plates: lanes multiplied into accumulators, in double. Recompiled for each SIMD target.
//
// In the log semiring an accumulator is top + log(sum): sums of several lanes are multiplied as they are, and one
// logarithm is taken ("settled") before their product could overflow.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/math-inl.hpp"
#include "kernels/reduce_kernels.hpp"
#include "kernels/vector_ring-inl.hpp"

#if defined(PLATED_KERNELS_PRODUCTS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_PRODUCTS_INL_HPP_
#undef PLATED_KERNELS_PRODUCTS_INL_HPP_
#else
#define PLATED_KERNELS_PRODUCTS_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Ring, class T>
void settle(std::int64_t count, double* product_top, double* product_sum) {
  if constexpr (has_sum<Ring>) {
    const hn::ScalableTag<double> d;
    for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      hn::StoreU(hn::Add(hn::LoadU(d, product_top + i), Log(d, hn::LoadU(d, product_sum + i))), d, product_top + i);
      hn::StoreU(hn::Set(d, 1.0), d, product_sum + i);
    }
  }
}

/// Neighbouring lanes go to neighbouring accumulators.
template <class Ring, class State>
HWY_INLINE void multiply_across(std::int64_t length, const State* top, const State* sum, double* product_top,
                                double* product_sum) {
  using R = VectorRing<Ring>;
  const hn::ScalableTag<double> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + width <= length; i += width) {
    hn::StoreU(R::multiply(hn::LoadU(d, product_top + i), load_doubles(d, top + i)), d, product_top + i);
    if constexpr (has_sum<Ring>) {
      hn::StoreU(hn::Mul(hn::LoadU(d, product_sum + i), load_doubles(d, sum + i)), d, product_sum + i);
    }
  }
  for (; i < length; ++i) {
    product_top[i] = Ring::multiply(product_top[i], static_cast<double>(top[i]));
    if constexpr (has_sum<Ring>) product_sum[i] *= static_cast<double>(sum[i]);
  }
}

/// All lanes go to one accumulator.
template <class Ring, class State>
HWY_INLINE void multiply_along(std::int64_t length, const State* top, const State* sum, double& product_top,
                               double& product_sum) {
  using R = VectorRing<Ring>;
  const hn::ScalableTag<double> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  if (length >= 2 * width) {
    auto tops = load_doubles(d, top);
    auto sums = hn::Set(d, 1.0);
    if constexpr (has_sum<Ring>) sums = load_doubles(d, sum);
    for (i = width; i + width <= length; i += width) {
      tops = R::multiply(tops, load_doubles(d, top + i));
      if constexpr (has_sum<Ring>) sums = hn::Mul(sums, load_doubles(d, sum + i));
    }
    HWY_ALIGN double lanes[2][HWY_MAX_BYTES / sizeof(double)];
    hn::Store(tops, d, lanes[0]);
    hn::Store(sums, d, lanes[1]);
    for (std::int64_t l = 0; l < width; ++l) {
      product_top = Ring::multiply(product_top, lanes[0][l]);
      product_sum *= lanes[1][l];
    }
  }
  for (; i < length; ++i) {
    product_top = Ring::multiply(product_top, static_cast<double>(top[i]));
    if constexpr (has_sum<Ring>) product_sum *= static_cast<double>(sum[i]);
  }
}

/// `factors_per_settle` > 0: settle after so many factors, because one call brings more than an accumulator can take.
template <class Ring, class T>
void accumulate(std::int64_t lanes, const Run* runs, std::size_t run_count, const void* top_bytes,
                const void* sum_bytes, double* product_top, double* product_sum, std::int64_t factors_per_settle) {
  using State = StateOf<Ring, T>;
  const auto* top = static_cast<const State*>(top_bytes);
  const auto* sum = static_cast<const State*>(sum_bytes);
  for (std::size_t r = 0; r < run_count && runs[r].begin < lanes; ++r) {
    const Run& run = runs[r];
    const std::int64_t end = std::min(run.begin + run.length, lanes);
    if (run.step == 1) {
      multiply_across<Ring>(end - run.begin, top + run.begin, sum + run.begin, product_top + run.target,
                            product_sum + run.target);
      if (has_sum<Ring> && factors_per_settle > 0) {
        for (std::int64_t i = run.target; i < run.target + end - run.begin; ++i) {
          product_top[i] += std::log(product_sum[i]);
          product_sum[i] = 1.0;
        }
      }
      continue;
    }
    const std::int64_t piece = factors_per_settle > 0 ? factors_per_settle : end - run.begin;
    for (std::int64_t begin = run.begin; begin < end; begin += piece) {
      multiply_along<Ring>(std::min(piece, end - begin), top + begin, sum + begin, product_top[run.target],
                           product_sum[run.target]);
      if (has_sum<Ring> && factors_per_settle > 0) {
        product_top[run.target] += std::log(product_sum[run.target]);
        product_sum[run.target] = 1.0;
      }
    }
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
