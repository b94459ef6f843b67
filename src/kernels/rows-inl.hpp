// Rows of entries in memory by vectors, of which the last may be short: no byte beyond a row is touched.
#if defined(PLATED_KERNELS_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_ROWS_INL
#undef PLATED_KERNELS_ROWS_INL
#else
#define PLATED_KERNELS_ROWS_INL
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>

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
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  hn::BlendedStore(form(at), hn::FirstN(d, static_cast<std::size_t>(count - at)), d, row + at);
#else
  HWY_ALIGN T rest[64 / sizeof(T)];
  hn::Store(form(at), d, rest);
  std::memcpy(row + at, rest, static_cast<std::size_t>(count - at) * sizeof(T));
#endif
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

/// to[k · pitch + i] ← rows[i · kCount + k] for as many rows of 2 or 4 entries as a vector has lanes.
template <int kCount, class T>
HWY_INLINE void separate_rows(const T* rows, T* to, std::int64_t pitch) {
  const GemmTag<T> d;
  GemmVec<T> v0, v1, v2, v3;
  if constexpr (kCount == 2) {
    hn::LoadInterleaved2(d, rows, v0, v1);
  } else {
    static_assert(kCount == 4);
    hn::LoadInterleaved4(d, rows, v0, v1, v2, v3);
    hn::Store(v2, d, to + 2 * pitch);
    hn::Store(v3, d, to + 3 * pitch);
  }
  hn::Store(v0, d, to);
  hn::Store(v1, d, to + pitch);
}

/// row[k · stride] one after the other: in place where they are, else in `copy`.
template <class T>
HWY_INLINE const T* contiguous(const T* row, std::int64_t count, std::int64_t stride, T* copy) {
  if (stride == 1) return row;
  for (std::int64_t k = 0; k < count; ++k) copy[k] = row[k * stride];
  return copy;
}

/// place[k] ← from[k · stride], in the place's own type.
template <class T, class Place>
HWY_INLINE void put_row(const Place& place, std::int64_t step, std::int64_t row, std::int64_t count, const T* from,
                        std::int64_t stride) {
  const auto copy = [&](auto* to) HWY_ATTR {
    using To = std::remove_pointer_t<decltype(to)>;
    for (std::int64_t k = 0; k < count; ++k) to[k * place.state_stride] = static_cast<To>(from[k * stride]);
  };
  place.dtype == Dtype::float32 ? copy(place.template at<float>(step, row))
                                : copy(place.template at<double>(step, row));
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
