// Rows of entries in memory by vectors, of which the last may be short: no byte beyond a row is touched.
#if defined(PLATED_KERNELS_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_ROWS_INL
#undef PLATED_KERNELS_ROWS_INL
#else
#define PLATED_KERNELS_ROWS_INL
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/gemm_algebra-inl.hpp"
#include "kernels/vector_ring-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// The vector of a row of `count` entries from entry `at` on, `fill` beyond them.
template <class T>
HWY_INLINE GemmVec<T> load_of_row(const T* row, std::int64_t count, std::int64_t at, T fill) {
  const GemmTag<T> d;
  if (HWY_LIKELY(at + static_cast<std::int64_t>(hn::Lanes(d)) <= count)) return hn::LoadU(d, row + at);
  return load_some(d, row + at, static_cast<std::size_t>(count - at), fill);
}

/// row[k] ← lane k − at of form(at).
template <class T, class Form>
HWY_INLINE void store_row(T* row, std::int64_t count, const Form& form) {
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t at = 0;
  for (; at + lanes <= count; at += lanes) hn::StoreU(form(at), d, row + at);
  if (at == count) return;
  HWY_ALIGN T rest[64 / sizeof(T)];
  hn::Store(form(at), d, rest);
  std::memcpy(row + at, rest, static_cast<std::size_t>(count - at) * sizeof(T));
}

/// The largest entry of whole vectors.
template <class T>
HWY_INLINE T largest_of_row(const T* row, std::int64_t count) {
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  GemmVec<T> top = hn::LoadU(d, row);
  for (std::int64_t at = lanes; at < count; at += lanes) top = hn::Max(top, hn::LoadU(d, row + at));
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

/// row[k · stride] one after the other: in place where they are, else in `copy`.
template <class T>
HWY_INLINE const T* contiguous(const T* row, std::int64_t count, std::int64_t stride, T* copy) {
  if (stride == 1) return row;
  for (std::int64_t k = 0; k < count; ++k) copy[k] = row[k * stride];
  return copy;
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
