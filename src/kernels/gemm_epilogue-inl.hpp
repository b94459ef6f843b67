// The epilogue: takes the finished sums of a register tile back to the semiring, and writes them.
#if defined(PLATED_KERNELS_GEMM_EPILOGUE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_GEMM_EPILOGUE_INL
#undef PLATED_KERNELS_GEMM_EPILOGUE_INL
#else
#define PLATED_KERNELS_GEMM_EPILOGUE_INL
#endif

#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "kernels/gemm_algebra-inl.hpp"
#include "kernels/gemm_tiling.hpp"
#include "kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// When a sum of exponentials may have lost terms to underflow. A lost term is below the smallest normal number; it
/// matters where K of them are not negligible against the sum. It cannot occur where row and column are shallow: every
/// term that is not zero is then a normal number, and a sum of 0 is a true zero.
template <class T>
struct UnderflowGuard {
  explicit UnderflowGuard(std::int64_t terms)
      : least_sum(static_cast<T>(terms) * (std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon())) {}
  // A little under −log of the smallest normal number.
  static constexpr T safe_depth = sizeof(T) == 4 ? T(86) : T(707);
  T least_sum;
};

/// Shifts that cancel against the logarithm of the sum leave its rounding errors behind. A logarithm that is more than
/// this many times as large as the result (or as 1) would spoil the promised 1e-6 in float32 and 1e-14 in float64.
template <class T>
inline constexpr T most_cancellation = sizeof(T) == 4 ? T(4) : T(32);

/// sums[j] ← log(sums[j]) + row_shift + column.shift[j] for j < used, by whole vectors; suspect sums are replaced by
/// repair(j), which is slow and exact.
template <class T, class Repair>
void take_logs(T* sums, std::int64_t used, T row_shift, T row_depth, const T* column_shift, const T* column_depth,
               const UnderflowGuard<T>& guard, const Repair& repair) {
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto shift = hn::Set(d, row_shift);
  const auto shallow = hn::Set(d, UnderflowGuard<T>::safe_depth - row_depth);
  for (std::int64_t v = 0; v < used; v += lanes) {
    const auto sum = hn::LoadU(d, sums + v);
    const auto log_sum = Log(d, sum);
    const auto logs = hn::Add(log_sum, hn::Add(shift, hn::LoadU(d, column_shift + v)));
    hn::StoreU(logs, d, sums + v);
    const auto underflow =
        hn::And(hn::Lt(sum, hn::Set(d, guard.least_sum)), hn::Gt(hn::LoadU(d, column_depth + v), shallow));
    const auto scale = hn::Mul(hn::Max(hn::Abs(logs), hn::Set(d, T{1})), hn::Set(d, most_cancellation<T>));
    const auto suspect = hn::Or(underflow, hn::Gt(hn::Abs(log_sum), scale));
    if (HWY_LIKELY(hn::AllFalse(d, suspect))) continue;
    HWY_ALIGN T flags[gemm_max_lanes];
    hn::Store(hn::IfThenElseZero(suspect, hn::Set(d, T{1})), d, flags);
    for (std::int64_t i = 0; i < lanes && v + i < used; ++i) {
      if (flags[i] != 0) sums[v + i] = static_cast<T>(repair(v + i));
    }
  }
}

/// Writes a row: to[offsets[j]] = values[j], converted.
template <class Out, class Value>
void write_row(const Value* HWY_RESTRICT values, std::int64_t count, Out* HWY_RESTRICT to, const std::int64_t* offsets,
               bool contiguous) {
  if (contiguous) {
    to += offsets[0];
    for (std::int64_t j = 0; j < count; ++j) to[j] = static_cast<Out>(values[j]);
  } else {
    for (std::int64_t j = 0; j < count; ++j) to[offsets[j]] = static_cast<Out>(values[j]);
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
