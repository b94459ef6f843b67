// Gathers the inputs of a weighted sum into arrays, and folds its sums. Recompiled for each SIMD target.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/vector_ring-inl.hpp"
#include "kernels/weighted_sum_kernels.hpp"

#if defined(PLATED_KERNELS_WEIGHTED_SUM_GATHER_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_WEIGHTED_SUM_GATHER_INL_HPP_
#undef PLATED_KERNELS_WEIGHTED_SUM_GATHER_INL_HPP_
#else
#define PLATED_KERNELS_WEIGHTED_SUM_GATHER_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// −inf takes a term away whether it is added or subtracted.
template <Gather kHow>
HWY_INLINE double gathered(double old, double x) {
  if constexpr (kHow == Gather::multiply) return old * x;
  if constexpr (kHow == Gather::add) return old + x;
  return old + (x == -std::numeric_limits<double>::infinity() ? x : -x);
}

template <Gather kHow, class D, class V>
HWY_INLINE V gathered(D d, V old, V x) {
  if constexpr (kHow == Gather::multiply) return hn::Mul(old, x);
  if constexpr (kHow == Gather::add) return hn::Add(old, x);
  const V negative = hn::Neg(x);
  return hn::Add(old, hn::IfThenElse(hn::Eq(negative, hn::Inf(d)), x, negative));
}

/// A run of neighbours.
template <Gather kHow, class From>
HWY_INLINE void gather_run(double* HWY_RESTRICT out, const From* HWY_RESTRICT from, std::int64_t length) {
  const hn::ScalableTag<double> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + width <= length; i += width) {
    hn::StoreU(gathered<kHow>(d, hn::LoadU(d, out + i), load_doubles(d, from + i)), d, out + i);
  }
  for (; i < length; ++i) out[i] = gathered<kHow>(out[i], static_cast<double>(from[i]));
}

template <Gather kHow, class From>
void gather_from(double* HWY_RESTRICT to, std::int64_t count, const PackSource& source) {
  const auto* HWY_RESTRICT base = static_cast<const From*>(source.base);
  if (source.runs == nullptr) {
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = gathered<kHow>(to[i], static_cast<double>(base[source.lane_offset[i]]));
    }
    return;
  }
  for (std::size_t r = 0; r < source.run_count && source.runs[r].begin < count; ++r) {
    const Run& run = source.runs[r];
    const std::int64_t length = std::min(run.length, count - run.begin);
    const From* HWY_RESTRICT from = base + run.target;
    double* HWY_RESTRICT out = to + run.begin;
    if (run.step == 1) {
      gather_run<kHow>(out, from, length);
    } else if (run.step == 0) {
      const auto x = static_cast<double>(*from);
      for (std::int64_t i = 0; i < length; ++i) out[i] = gathered<kHow>(out[i], x);
    } else {
      for (std::int64_t i = 0; i < length; ++i) {
        out[i] = gathered<kHow>(out[i], static_cast<double>(from[i * run.step]));
      }
    }
  }
}

template <Gather kHow>
HWY_INLINE void gather_how(double* to, std::int64_t count, const PackSource& source) {
  if (source.dtype == Dtype::float32) {
    gather_from<kHow, float>(to, count, source);
  } else {
    gather_from<kHow, double>(to, count, source);
  }
}

inline void gather(double* to, std::int64_t count, const PackSource& source, Gather how) {
  switch (how) {
    case Gather::add:
      return gather_how<Gather::add>(to, count, source);
    case Gather::subtract:
      return gather_how<Gather::subtract>(to, count, source);
    case Gather::multiply:
      return gather_how<Gather::multiply>(to, count, source);
  }
}

inline void split(const double* HWY_RESTRICT x, std::int64_t count, float* HWY_RESTRICT high, float* HWY_RESTRICT low) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> f;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + width <= count; i += width) {
    const auto whole = hn::LoadU(d, x + i);
    const auto part = hn::DemoteTo(f, whole);
    const auto lacks = hn::DemoteTo(f, hn::Sub(whole, hn::PromoteTo(d, part)));
    const auto finite = hn::Ge(part, hn::Set(f, std::numeric_limits<float>::lowest()));
    hn::StoreU(part, f, high + i);
    hn::StoreU(hn::IfThenElseZero(finite, lacks), f, low + i);
  }
  for (; i < count; ++i) {
    high[i] = static_cast<float>(x[i]);
    const auto lacks = static_cast<float>(x[i] - static_cast<double>(high[i]));
    low[i] = high[i] >= std::numeric_limits<float>::lowest() ? lacks : 0.0f;
  }
}

template <class T>
void round_to(const double* HWY_RESTRICT x, std::int64_t count, void* to) {
  T* HWY_RESTRICT out = static_cast<T*>(to);
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(x[i]);
}

template <class T>
void drain(void* from, std::int64_t count, double* HWY_RESTRICT to) {
  T* HWY_RESTRICT in = static_cast<T*>(from);
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] += static_cast<double>(in[i]);
    in[i] = T{0};
  }
}

/// Vectors of doubles, and the rest one by one: the same order whatever the type.
template <class From>
HWY_INLINE double sum_lanes(const From* from, std::int64_t count) {
  const hn::ScalableTag<double> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * width <= count; i += 2 * width) {
    even = hn::Add(even, load_doubles(d, from + i));
    odd = hn::Add(odd, load_doubles(d, from + i + width));
  }
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < count; ++i) total += static_cast<double>(from[i]);
  return total;
}

template <class From>
void fold_from(const From* HWY_RESTRICT from, const SumTile& tile, const Run* runs, std::size_t run_count,
               std::int64_t slots, double* HWY_RESTRICT slot) {
  for (std::int64_t row = 0; row < tile.rows; ++row, from += tile.pitch, slot += slots) {
    std::fill(slot, slot + slots, 0.0);
    for (std::size_t r = 0; r < run_count && runs[r].begin < tile.lanes; ++r) {
      const Run& run = runs[r];
      const std::int64_t length = std::min(run.length, tile.lanes - run.begin);
      if (run.step == 0) {
        slot[run.target] += sum_lanes(from + run.begin, length);
      } else {
        for (std::int64_t i = 0; i < length; ++i) slot[run.target + i] += static_cast<double>(from[run.begin + i]);
      }
    }
  }
}

template <class T>
void fold_lanes(const SumTile& tile, const Run* runs, std::size_t run_count, std::int64_t slots, double* slot) {
  if (tile.doubles) {
    fold_from(static_cast<const double*>(tile.sums), tile, runs, run_count, slots, slot);
  } else {
    fold_from(static_cast<const T*>(tile.sums), tile, runs, run_count, slots, slot);
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
