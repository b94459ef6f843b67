// Adds rows of lanes to running states, lanes of a slot into one, and converts states. Recompiled per SIMD target.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/ahead.hpp"
#include "kernels/math-inl.hpp"
#include "kernels/vector_ring-inl.hpp"

#if defined(PLATED_KERNELS_SUMS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_SUMS_INL_HPP_
#undef PLATED_KERNELS_SUMS_INL_HPP_
#else
#define PLATED_KERNELS_SUMS_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows absorbed at a time. Their addresses are often a large power of two apart and fall into one set of a cache with
// eight ways, so more would evict each other; fewer would rescale the running sum more often.
inline constexpr std::int64_t rows_at_a_time = 8;

/// The rows added up by R, eight of them pairwise; in the log semiring that is their maximum.
template <class R, class V, class Row>
HWY_INLINE V add_rows(const Row& row, std::int64_t rows) {
  if (rows == rows_at_a_time) {
    const V a = R::add(R::add(row(0), row(1)), R::add(row(2), row(3)));
    const V b = R::add(R::add(row(4), row(5)), R::add(row(6), row(7)));
    return R::add(a, b);
  }
  V total = row(0);
  for (std::int64_t r = 1; r < rows; ++r) total = R::add(total, row(r));
  return total;
}

/// One vector of lanes, up to eight rows: the online log-sum-exp. The running sum is rescaled once for all rows. Where
/// every row so far is −inf the shift is the lowest finite number: the sum is then meaningless, and top stays −inf.
template <class D, class Row, class T>
HWY_INLINE void absorb_vector(semiring::Log, D d, const Row& row, std::int64_t rows, T* top, T* sum, bool first) {
  using V = hn::Vec<D>;
  const V lowest = hn::Set(d, std::numeric_limits<T>::lowest());
  V high = add_rows<VectorRing<semiring::Log>, V>(row, rows);
  V total;
  V shift;
  if (first) {
    shift = hn::Max(high, lowest);
    total = ExpOfShifted(d, hn::Sub(row(0), shift));
  } else {
    const V old = hn::LoadU(d, top);
    high = hn::Max(high, old);
    shift = hn::Max(high, lowest);
    total =
        hn::MulAdd(hn::LoadU(d, sum), ExpOfShifted(d, hn::Sub(old, shift)), ExpOfShifted(d, hn::Sub(row(0), shift)));
  }
  if (rows == rows_at_a_time) {
    HWY_UNROLL(7)
    for (std::int64_t r = 1; r < rows_at_a_time; ++r) total = hn::Add(total, ExpOfShifted(d, hn::Sub(row(r), shift)));
  } else {
    for (std::int64_t r = 1; r < rows; ++r) total = hn::Add(total, ExpOfShifted(d, hn::Sub(row(r), shift)));
  }
  hn::StoreU(high, d, top);
  hn::StoreU(total, d, sum);
}

/// Real sums: eight rows pairwise in the arithmetic type, these in double.
template <class D, class Row>
HWY_INLINE void absorb_vector(semiring::Real, D d, const Row& row, std::int64_t rows, double* top, double*,
                              bool first) {
  using T = hn::TFromD<D>;
  const auto total = add_rows<VectorRing<semiring::Real>, hn::Vec<D>>(row, rows);
  if constexpr (sizeof(T) == 8) {
    hn::StoreU(first ? total : hn::Add(hn::LoadU(d, top), total), d, top);
  } else {
    const hn::ScalableTag<double> d64;
    const auto add_to = [&](auto part, double* to)
                            HWY_ATTR { hn::StoreU(first ? part : hn::Add(hn::LoadU(d64, to), part), d64, to); };
#if HWY_TARGET == HWY_SCALAR
    add_to(hn::PromoteTo(d64, total), top);
#else
    const hn::Half<D> half;
    add_to(hn::PromoteTo(d64, hn::LowerHalf(half, total)), top);
    add_to(hn::PromoteTo(d64, hn::UpperHalf(half, total)), top + hn::Lanes(d64));
#endif
  }
}

/// Maxima, minima and "or".
template <class Ring, class D, class Row, class T>
HWY_INLINE void absorb_vector(Ring, D d, const Row& row, std::int64_t rows, T* top, T* sum, bool first) {
  using R = VectorRing<Ring>;
  const auto total = add_rows<R, hn::Vec<D>>(row, rows);
  if constexpr (has_plain_sum<Ring>) {
    // Before anything is stored: what was loaded for the one is still there for the other.
    const auto plain = add_rows<VectorRing<semiring::Real>, hn::Vec<D>>(row, rows);
    hn::StoreU(first ? plain : hn::Add(hn::LoadU(d, sum), plain), d, sum);
  }
  hn::StoreU(first ? total : R::add(hn::LoadU(d, top), total), d, top);
}

/// Short rows end before the hardware's prefetcher has seen a stream: asks for the eight rows to come, those of the
/// next block at the end of this one.
template <class T>
struct PrefetchRows {
  const T* base;
  const T* next;  // may be null
  const std::int64_t* row_offset;
  std::int64_t rows;
  std::int64_t lanes;

  HWY_INLINE void before_rows(std::int64_t r0) const {
    if (next == nullptr) return;
    const bool within = r0 + rows_at_a_time < rows;
    const std::int64_t begin = within ? r0 + rows_at_a_time : 0;
    const std::int64_t end = std::min(begin + rows_at_a_time, rows);
    for (std::int64_t r = begin; r < end; ++r) {
      for (std::int64_t l = 0; l < lanes; l += static_cast<std::int64_t>(64 / sizeof(T))) {
        hwy::Prefetch((within ? base : next) + row_offset[r] + l);
      }
    }
  }
  HWY_INLINE void before_vector() const {}
};

/// A few lines with every vector.
struct PrefetchAhead {
  Fetcher fetcher;

  HWY_INLINE void before_rows(std::int64_t) const {}
  HWY_INLINE void before_vector() { fetcher.step(); }
};

template <class Ring, class T, class Prefetch>
HWY_INLINE void absorb_rows(const void* base, const std::int64_t* row_offset, std::int64_t rows, std::int64_t lanes,
                            void* top_bytes, void* sum_bytes, bool first, Prefetch prefetch) {
  using State = StateOf<Ring, T>;
  using R = VectorRing<Ring>;
  const hn::ScalableTag<T> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  auto* HWY_RESTRICT top = static_cast<State*>(top_bytes);
  auto* HWY_RESTRICT sum = static_cast<State*>(sum_bytes);
  for (std::int64_t r0 = 0; r0 < rows; r0 += rows_at_a_time) {
    const std::int64_t count = std::min(rows_at_a_time, rows - r0);
    const T* from[rows_at_a_time];
    for (std::int64_t r = 0; r < rows_at_a_time; ++r) {
      from[r] = static_cast<const T*>(base) + row_offset[r0 + std::min(r, count - 1)];
    }
    prefetch.before_rows(r0);
    std::int64_t lane = 0;
    const auto whole = [&](std::int64_t r) HWY_ATTR { return R::import(hn::LoadU(d, from[r] + lane)); };
    if (count == rows_at_a_time) {  // apart from the loop below, so that the rows are unrolled
      if (r0 == 0 && first) {
        for (; lane + width <= lanes; lane += width) {
          prefetch.before_vector();
          absorb_vector(Ring{}, d, whole, rows_at_a_time, top + lane, sum + lane, true);
        }
      } else {
        for (; lane + width <= lanes; lane += width) {
          prefetch.before_vector();
          absorb_vector(Ring{}, d, whole, rows_at_a_time, top + lane, sum + lane, false);
        }
      }
    } else {
      for (; lane + width <= lanes; lane += width) {
        prefetch.before_vector();
        absorb_vector(Ring{}, d, whole, count, top + lane, sum + lane, r0 == 0 && first);
      }
    }
    if (lane < lanes) {
      // Zeros beyond the end: lanes there may be in use, where these rows are shorter than others of the sum.
      const auto some = [&](std::int64_t r) HWY_ATTR {
        return R::import(
            load_some(d, from[r] + lane, static_cast<std::size_t>(lanes - lane), static_cast<T>(Ring::zero())));
      };
      absorb_vector(Ring{}, d, some, count, top + lane, sum + lane, r0 == 0 && first);
    }
  }
}

template <class Ring, class T>
void absorb(const void* base, const void* next, const std::int64_t* row_offset, std::int64_t rows, std::int64_t lanes,
            void* top, void* sum, bool first) {
  const PrefetchRows<T> prefetch = {static_cast<const T*>(base), static_cast<const T*>(next), row_offset, rows, lanes};
  absorb_rows<Ring, T>(base, row_offset, rows, lanes, top, sum, first, prefetch);
}

template <class Ring, class T>
void absorb_tile(const void* tile, const Ahead& ahead, const std::int64_t* row_offset, std::int64_t rows,
                 std::int64_t lanes, void* top, void* sum, bool first) {
  if (ahead.lines == 0) return absorb<Ring, T>(tile, nullptr, row_offset, rows, lanes, top, sum, first);
  const auto width = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const std::int64_t vectors = (rows + rows_at_a_time - 1) / rows_at_a_time * std::max<std::int64_t>(1, lanes / width);
  absorb_rows<Ring, T>(tile, row_offset, rows, lanes, top, sum, first, PrefetchAhead{Fetcher(ahead, vectors)});
}

/// Lanes of one slot are added up: exactly as rows are, but one lane at a time, because slots come in any order.
template <class Ring, class T>
void fold(std::int64_t lanes, std::int64_t slots, const std::int64_t* slot, void* top_bytes, void* sum_bytes,
          void* scratch) {
  using State = StateOf<Ring, T>;
  const hn::ScalableTag<State> d;
  auto* top = static_cast<State*>(top_bytes);
  auto* sum = static_cast<State*>(sum_bytes);
  auto* total = static_cast<State*>(scratch);
  // Running totals of what the ring adds: for log these are the maxima.
  const auto add = [](State a, State b) {
    if constexpr (has_sum<Ring>) return std::max(a, b);
    return static_cast<State>(Ring::add(static_cast<double>(a), static_cast<double>(b)));
  };
  std::fill(total, total + slots, static_cast<State>(Ring::zero()));
  for (std::int64_t lane = 0; lane < lanes; ++lane) total[slot[lane]] = add(total[slot[lane]], top[lane]);
  if constexpr (has_sum<Ring>) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      top[lane] -= std::max(total[slot[lane]], std::numeric_limits<State>::lowest());
    }
    for (std::int64_t lane = 0; lane < lanes; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
      hn::StoreU(hn::Mul(hn::LoadU(d, sum + lane), ExpOfShifted(d, hn::LoadU(d, top + lane))), d, sum + lane);
    }
    std::fill(top, top + slots, State{0});
    for (std::int64_t lane = 0; lane < lanes; ++lane) top[slot[lane]] += sum[lane];
    std::copy(top, top + slots, sum);
  }
  std::copy(total, total + slots, top);
}

/// Real sums: zero times a finite number is zero, times any other NaN, which stays.
template <class Ring, class T>
requires std::is_same_v<Ring, semiring::Real>
double magnitude(std::int64_t lanes, const void* top_bytes, const void*) {
  const hn::ScalableTag<double> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto* top = static_cast<const double*>(top_bytes);
  const auto zero = hn::Zero(d);
  auto a = zero, b = zero, c = zero, e = zero;  // four at a time do not wait for each other
  std::int64_t lane = 0;
  for (; lane + 4 * width <= lanes; lane += 4 * width) {
    a = hn::MulAdd(hn::LoadU(d, top + lane), zero, a);
    b = hn::MulAdd(hn::LoadU(d, top + lane + width), zero, b);
    c = hn::MulAdd(hn::LoadU(d, top + lane + 2 * width), zero, c);
    e = hn::MulAdd(hn::LoadU(d, top + lane + 3 * width), zero, e);
  }
  double rest = 0;
  for (; lane < lanes; ++lane) rest += top[lane] * 0.0;
  const bool all = rest == 0 && hn::AllTrue(d, hn::Eq(hn::Add(hn::Add(a, b), hn::Add(c, e)), zero));
  return all ? 0.0 : std::numeric_limits<double>::infinity();
}

/// In the log semiring the terms of `sum` are NaN where an entry is NaN or +inf, and at most 1 otherwise. Beside a
/// maximum or a minimum, the plain sum is NaN where an entry is; an infinity that is not the ring's zero is the top.
template <class Ring, class T>
requires(has_sum<Ring> || has_plain_sum<Ring>) double magnitude(std::int64_t lanes, const void* top_bytes,
                                                                const void* sum_bytes) {
  const hn::ScalableTag<T> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto* top = static_cast<const T*>(top_bytes);
  const auto* sum = static_cast<const T*>(sum_bytes);
  const auto zero = hn::Set(d, static_cast<T>(Ring::zero()));
  auto largest = hn::Zero(d);
  auto sums = hn::Eq(largest, largest);  // whether all are numbers
  for (std::int64_t lane = 0; lane < lanes; lane += width) {
    const auto count = static_cast<std::size_t>(std::min(width, lanes - lane));
    const auto high = load_some(d, top + lane, count, static_cast<T>(Ring::zero()));
    const auto beside = load_some(d, sum + lane, count, T{0});
    largest = hn::Max(largest, hn::IfThenZeroElse(hn::Eq(high, zero), hn::Abs(high)));
    sums = hn::And(sums, hn::Eq(beside, beside));
  }
  if (!hn::AllTrue(d, sums)) return std::numeric_limits<double>::infinity();
  return static_cast<double>(hn::GetLane(hn::MaxOfLanes(d, largest)));
}

/// The others lose NaN.
template <class Ring, class T>
requires(!std::is_same_v<Ring, semiring::Real> && !has_sum<Ring> &&
         !has_plain_sum<Ring>) double magnitude(std::int64_t, const void*, const void*) {
  return 0;
}

template <class Ring, class T>
void value(std::int64_t lanes, const void* top_bytes, const void* sum_bytes, double* out) {
  using State = StateOf<Ring, T>;
  const auto* top = static_cast<const State*>(top_bytes);
  if constexpr (has_sum<Ring>) {
    const hn::ScalableTag<T> d;
    const hn::ScalableTag<double> d64;
    const auto* sum = static_cast<const T*>(sum_bytes);
    HWY_ALIGN T logs[HWY_MAX_BYTES / sizeof(T)];
    for (std::int64_t lane = 0; lane < lanes; lane += static_cast<std::int64_t>(hn::Lanes(d))) {
      hn::Store(Log(d, hn::LoadU(d, sum + lane)), d, logs);
      for (std::size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(d64)) {
        const auto high = load_doubles(d64, top + lane + i);
        hn::StoreU(hn::Add(high, load_doubles(d64, logs + i)), d64, out + lane + i);
      }
    }
  } else {
    for (std::int64_t lane = 0; lane < lanes; ++lane) out[lane] = static_cast<double>(top[lane]);
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
