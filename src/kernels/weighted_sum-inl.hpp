// The terms of a weighted sum, a block of rows × lanes at a time. Recompiled for each SIMD target.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/math-inl.hpp"
#include "kernels/vector_ring-inl.hpp"
#include "kernels/weighted_sum_kernels.hpp"

#if defined(PLATED_KERNELS_WEIGHTED_SUM_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_WEIGHTED_SUM_INL_HPP_
#undef PLATED_KERNELS_WEIGHTED_SUM_INL_HPP_
#else
#define PLATED_KERNELS_WEIGHTED_SUM_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Where 2^n has the exponent field 0: the bits of zero.
template <class T>
constexpr T log_of_zero = static_cast<T>(-0.69314718055994530942 * MathConstants<T>::exponent_bias);

/// 2^f = 1 + f q(f) for |f| ≤ 1/2: in float one term fewer than a sum of many needs, since a probability of its own is
/// rounded to the element type anyway. Relative error 1.2e-7, and zero in the mean: masses are products of many
/// weights.
template <class T>
struct Exp2Terms {
  static constexpr auto& q = MathConstants<T>::exp2;
};
template <>
struct Exp2Terms<float> {
  static constexpr float q[] = {0.693146646f, 0.240222991f, 0.0555106662f, 0.0096688671f, 0.00131795916f};
};

/// The constants of an exponential, each as a whole vector in memory: the operand of an instruction, where a broadcast
/// would be a register that is set and spilled again for every short row.
template <class T>
struct ExpTable {
  using C = MathConstants<T>;
  static constexpr std::size_t terms = sizeof(Exp2Terms<T>::q) / sizeof(T);
  static constexpr std::size_t width = HWY_MAX_BYTES / sizeof(T);

  constexpr ExpTable() {
    for (std::size_t i = 0; i < width; ++i) {
      for (std::size_t k = 0; k < terms; ++k) term[k][i] = Exp2Terms<T>::q[k];
      one[i] = 1;
      low[i] = log_of_zero<T>;
      log2e[i] = static_cast<T>(1.44269504088896340736);
      // A rounded log2(e) alone would make all weights too large: a thousand steps would multiply the error.
      log2e_rest[i] = static_cast<T>(1.44269504088896340736 - static_cast<double>(log2e[i]));
      // The bias goes in with the magic number, so that one shift makes 2^n of the rounded sum.
      magic[i] = C::round_magic + static_cast<T>(C::exponent_bias);
    }
  }

  alignas(64) T term[terms][width]{};
  alignas(64) T one[width]{};
  alignas(64) T low[width]{};
  alignas(64) T log2e[width]{};
  alignas(64) T log2e_rest[width]{};
  alignas(64) T magic[width]{};
};
template <class T>
inline constexpr ExpTable<T> exp_table{};

/// e^x for log_of_zero ≤ x ≤ 80, exactly 0 at the lower end, where all smaller x belong. Rounding x to the element type
/// costs more than this: the relative error is within |x| half ulps.
///
/// Four vectors side by side: one alone is a long chain of operations that wait for each other, and a processor does
/// not look far enough ahead to fill the gaps with the next one's.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void ExpOrZero(D d, const ExpTable<hn::TFromD<D>>& table, V& x0, V& x1, V& x2, V& x3) {
  using T = hn::TFromD<D>;
  using C = MathConstants<T>;
  const hn::RebindToSigned<D> di;
  const V log2e = hn::Load(d, table.log2e);
  const V rest = hn::Load(d, table.log2e_rest);
  const V magic = hn::Load(d, table.magic);
  const V r0 = hn::MulAdd(x0, log2e, magic);
  const V r1 = hn::MulAdd(x1, log2e, magic);
  const V r2 = hn::MulAdd(x2, log2e, magic);
  const V r3 = hn::MulAdd(x3, log2e, magic);
  const V f0 = hn::MulAdd(x0, rest, hn::MulSub(x0, log2e, hn::Sub(r0, magic)));
  const V f1 = hn::MulAdd(x1, rest, hn::MulSub(x1, log2e, hn::Sub(r1, magic)));
  const V f2 = hn::MulAdd(x2, rest, hn::MulSub(x2, log2e, hn::Sub(r2, magic)));
  const V f3 = hn::MulAdd(x3, rest, hn::MulSub(x3, log2e, hn::Sub(r3, magic)));
  V p0 = hn::Load(d, table.term[table.terms - 1]);
  V p1 = p0;
  V p2 = p0;
  V p3 = p0;
  const auto step = [&](const T* coefficient) HWY_ATTR {
    const V c = hn::Load(d, coefficient);
    p0 = hn::MulAdd(p0, f0, c);
    p1 = hn::MulAdd(p1, f1, c);
    p2 = hn::MulAdd(p2, f2, c);
    p3 = hn::MulAdd(p3, f3, c);
  };
  for (std::size_t i = table.terms - 1; i-- > 0;) step(table.term[i]);
  step(table.one);
  const auto power = [&](V rounded)
                         HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<C::mantissa_bits>(hn::BitCast(di, rounded))); };
  x0 = hn::Mul(p0, power(r0));
  x1 = hn::Mul(p1, power(r1));
  x2 = hn::Mul(p2, power(r2));
  x3 = hn::Mul(p3, power(r3));
}

/// One alone.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpOrZero(D d, V x) {
  using T = hn::TFromD<D>;
  using C = MathConstants<T>;
  const hn::RebindToSigned<D> di;
  const V log2e = hn::Set(d, static_cast<T>(1.44269504088896340736));
  const V magic = hn::Set(d, C::round_magic + static_cast<T>(C::exponent_bias));
  const V rounded = hn::MulAdd(x, log2e, magic);
  const V rest = hn::Set(d, static_cast<T>(1.44269504088896340736 - double{static_cast<T>(1.44269504088896340736)}));
  const V f = hn::MulAdd(x, rest, hn::MulSub(x, log2e, hn::Sub(rounded, magic)));
  const V p = hn::MulAdd(Polynomial(d, f, Exp2Terms<T>::q), f, hn::Set(d, T{1}));
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<C::mantissa_bits>(hn::BitCast(di, rounded))));
}

/// x + (lanes + row), added in double.
template <class D>
HWY_INLINE hn::Vec<D> add_in_double(D, hn::Vec<D> x, const double* lanes, double row) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const D d;
    return hn::Add(x, hn::Add(hn::LoadU(d, lanes), hn::Set(d, row)));
  } else {
    const D d;
    const hn::ScalableTag<double> d64;
    const auto row64 = hn::Set(d64, row);
#if HWY_TARGET == HWY_SCALAR
    return hn::DemoteTo(d, hn::Add(hn::PromoteTo(d64, x), hn::Add(hn::LoadU(d64, lanes), row64)));
#else
    const hn::Half<D> half;
    const auto low = hn::Add(hn::PromoteTo(d64, hn::LowerHalf(half, x)), hn::Add(hn::LoadU(d64, lanes), row64));
    const auto high =
        hn::Add(hn::PromoteTo(d64, hn::UpperHalf(half, x)), hn::Add(hn::LoadU(d64, lanes + hn::Lanes(d64)), row64));
    return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
#endif
  }
}

/// How far ahead of its use a direct input is brought in.
inline constexpr std::int64_t lanes_ahead = 256;

/// What one row's terms are made of.
template <class T, LogForm kLog, WeightForm kWeight>
class RowTerms {
 public:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr bool by_row = kWeight == WeightForm::rows || kWeight == WeightForm::both;

  HWY_INLINE RowTerms(const WeightBlock& block, const ExpTable<T>& table, std::int64_t row)
      : table_(table),
        lane_high_(block.lane_high),
        lane_low_(block.lane_low),
        lane_log_(block.lane_log),
        lane_weight_(static_cast<const T*>(block.lane_weight)),
        surprisal_(block.surprisal) {
    if constexpr (kLog == LogForm::rows) {
      row_high_ = block.row_high[row];
      row_low_ = block.row_low[row];
    }
    if constexpr (kLog == LogForm::doubles) row_log_ = block.row_log[row];
    if constexpr (by_row) row_weight_ = static_cast<const T*>(block.row_weight)[row];
  }

  /// The terms of a vector of lanes from `lane` on.
  HWY_INLINE V operator()(V direct, std::int64_t lane) const {
    const D d;
    V x = log(direct, lane);
    V y = x;
    if constexpr (kLog != LogForm::none) y = ExpOrZero(d, x);
    y = weighted(y, lane);
    if constexpr (kLog != LogForm::none) {
      if (surprisal_) y = hn::Mul(y, hn::Neg(x));
    }
    return y;
  }

  [[nodiscard]] HWY_INLINE bool by_fours() const { return !surprisal_; }

  /// Of four vectors, without their surprisals; hands each to `sink` with its lane.
  template <class Sink>
  HWY_INLINE void four(const T* from, std::int64_t lane, const Sink& sink) const {
    const D d;
    const auto width = static_cast<std::int64_t>(hn::Lanes(d));
    V x0 = log(hn::LoadU(d, from + lane), lane);
    V x1 = log(hn::LoadU(d, from + lane + width), lane + width);
    V x2 = log(hn::LoadU(d, from + lane + 2 * width), lane + 2 * width);
    V x3 = log(hn::LoadU(d, from + lane + 3 * width), lane + 3 * width);
    if constexpr (kLog != LogForm::none) ExpOrZero(d, table_, x0, x1, x2, x3);
    sink(weighted(x0, lane), lane);
    sink(weighted(x1, lane + width), lane + width);
    sink(weighted(x2, lane + 2 * width), lane + 2 * width);
    sink(weighted(x3, lane + 3 * width), lane + 3 * width);
  }

 private:
  /// The logarithms of the weights, where the direct input is x; what is no logarithm is passed on.
  HWY_INLINE V log(V x, std::int64_t lane) const {
    const D d;
    if constexpr (kLog == LogForm::none) return x;
    if constexpr (kLog == LogForm::lanes) {
      x = hn::Add(hn::Add(x, hn::LoadU(d, lane_high_ + lane)), hn::LoadU(d, lane_low_ + lane));
    } else if constexpr (kLog == LogForm::rows) {
      x = hn::Add(hn::Add(x, hn::Set(d, row_high_)), hn::Set(d, row_low_));
    } else if constexpr (kLog == LogForm::doubles) {
      x = add_in_double(d, x, lane_log_ + lane, row_log_);
    }
    return AtLeast(hn::Load(d, table_.low), x);
  }

  HWY_INLINE V weighted(V y, std::int64_t lane) const {
    const D d;
    if constexpr (kWeight == WeightForm::lanes || kWeight == WeightForm::both) {
      y = hn::Mul(y, hn::LoadU(d, lane_weight_ + lane));
    }
    if constexpr (by_row) y = hn::Mul(y, hn::Set(d, row_weight_));
    return y;
  }

  const ExpTable<T>& table_;
  const float* lane_high_;
  const float* lane_low_;
  const double* lane_log_;
  const T* lane_weight_;
  float row_high_ = 0;
  float row_low_ = 0;
  double row_log_ = 0;
  T row_weight_ = 1;
  bool surprisal_;
};

/// The last lanes of a row, fewer than a vector.
template <class T, class Terms>
HWY_INLINE void weigh_rest(const Terms& terms, const WeightBlock& block, const T* from, T* to, std::int64_t lane) {
  const hn::ScalableTag<T> d;
  const auto rest = static_cast<std::size_t>(block.lanes - lane);
  // The lanes that follow may be sums that a longer block has begun: nothing is added to them.
  const auto y = hn::IfThenElseZero(hn::FirstN(d, rest), terms(load_some(d, from + lane, rest, T{0}), lane));
  if (block.padded) {
    hn::StoreU(block.add ? hn::Add(hn::LoadU(d, to + lane), y) : y, d, to + lane);
    return;
  }
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(y, d, lanes);
  for (std::size_t i = 0; i < rest; ++i) {
    T& element = to[lane + static_cast<std::int64_t>(i)];
    element = block.add ? element + lanes[i] : lanes[i];
  }
}

/// One row of a direct input, and where to find a later one, which is brought in meanwhile.
template <class T>
struct DirectRow {
  const T* from;
  const T* ahead;  // never read
};

/// All whole vectors of lanes from `lane` on go to the sink. Returns the lane after them.
template <class T, class Terms, class Sink>
HWY_INLINE std::int64_t weigh_vectors(const Terms& terms, const DirectRow<T>& direct, std::int64_t lane,
                                      std::int64_t lanes, const Sink& sink) {
  const hn::ScalableTag<T> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr auto line = static_cast<std::int64_t>(64 / sizeof(T));
  const T* const from = direct.from;
  if (terms.by_fours()) {
    for (; lane + 4 * width <= lanes; lane += 4 * width) {
      for (std::int64_t l = 0; l < 4 * width; l += line) hwy::Prefetch(direct.ahead + lane + l);
      terms.four(from, lane, sink);
    }
  }
  for (; lane + width <= lanes; lane += width) sink(terms(hn::LoadU(d, from + lane), lane), lane);
  return lane;
}

/// Writes past the caches. Such stores want whole aligned vectors: the first and the last one of a row overlap them.
template <class T, class Terms>
HWY_INLINE void stream_row(const Terms& terms, const WeightBlock& block, const DirectRow<T>& direct, T* to) {
  const hn::ScalableTag<T> d;
  const T* const from = direct.from;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T)) % width;
  std::int64_t lane = 0;
  if (beyond != 0) {
    hn::StoreU(terms(hn::LoadU(d, from), 0), d, to);
    lane = width - beyond;
  }
  lane = weigh_vectors(terms, direct, lane, block.lanes,
                       [&](auto y, std::int64_t l) HWY_ATTR { hn::Stream(y, d, to + l); });
  if (lane < block.lanes) {
    lane = block.lanes - width;
    hn::StoreU(terms(hn::LoadU(d, from + lane), lane), d, to + lane);
  }
}

template <class T, LogForm kLog, WeightForm kWeight>
void weigh(const WeightBlock& given) {
  const WeightBlock block = given;  // a copy, that no store through `to` can change
  const hn::ScalableTag<T> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const ExpTable<T>* table = &exp_table<T>;
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
  asm("" : "+r"(table));  // a compiler that knew what is in the table would broadcast it after all
#endif
  // Rows lie apart: each is a new stream to the hardware's prefetcher, which sees it late. The last rows bring in the
  // first ones of the next block.
  const std::int64_t rows_ahead = 1 + lanes_ahead / block.lanes;
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const RowTerms<T, kLog, kWeight> terms(block, *table, row);
    const std::int64_t later = row + rows_ahead;
    const DirectRow<T> direct = {static_cast<const T*>(block.direct) + block.direct_offset[row],
                                 later < block.rows ? static_cast<const T*>(block.direct) + block.direct_offset[later]
                                                    : static_cast<const T*>(block.next) +
                                                          block.direct_offset[(later - block.rows) % block.rows]};
    const T* const from = direct.from;
    T* to = static_cast<T*>(block.to) + block.to_offset[row];
    std::int64_t lane = 0;
    if (block.add) {
      lane = weigh_vectors(terms, direct, 0, block.lanes, [&](auto y, std::int64_t l) HWY_ATTR {
        hn::StoreU(hn::Add(hn::LoadU(d, to + l), y), d, to + l);
      });
    } else if (block.stream && block.lanes >= width) {
      stream_row(terms, block, direct, to);
      continue;
    } else {
      lane = weigh_vectors(terms, direct, 0, block.lanes,
                           [&](auto y, std::int64_t l) HWY_ATTR { hn::StoreU(y, d, to + l); });
    }
    if (lane < block.lanes) weigh_rest(terms, block, from, to, lane);
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
