// Rows of entries in memory by vectors, of which the last may be short: no byte beyond a row is touched.
#if defined(PLATED_KERNELS_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_ROWS_INL
#undef PLATED_KERNELS_ROWS_INL
#else
#define PLATED_KERNELS_ROWS_INL
#endif

#include <algorithm>
#include <bit>
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

/// Rows of few entries that lie together in a vector, at a distance that is a power of two. A row of more entries than
/// half a vector lies alone.
template <class T>
class RowsOfVector {
 public:
  using V = GemmVec<T>;

  explicit RowsOfVector(std::int64_t entries) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d_));
    pitch_ = std::min(lanes, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(entries))));
    together_ = lanes / pitch_;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      for (std::int64_t k = 0; k < pitch_; ++k) entry_[k][lane] = static_cast<Index>((lane & -pitch_) | k);
      for (int power = 0; (1 << power) < pitch_; ++power) other_[power][lane] = static_cast<Index>(lane ^ (1 << power));
      first_[lane] = static_cast<Index>(place(lane));
    }
  }

  [[nodiscard]] std::int64_t pitch() const { return pitch_; }
  [[nodiscard]] std::int64_t together() const { return together_; }

  /// Of many rows, one after the other: the vector that has row i, and its first lane there.
  [[nodiscard]] std::int64_t vector(std::int64_t i) const {
    return i >> std::countr_zero(static_cast<unsigned>(together_));
  }
  [[nodiscard]] std::int64_t place(std::int64_t i) const { return (i & (together_ - 1)) * pitch_; }
  /// The lanes of one of the rows.
  [[nodiscard]] hn::Mask<GemmTag<T>> lanes_of(std::int64_t row) const {
    const V lane = hn::Iota(d_, T{0}), begin = hn::Set(d_, static_cast<T>(row * pitch_));
    return hn::And(hn::Ge(lane, begin), hn::Lt(lane, hn::Add(begin, hn::Set(d_, static_cast<T>(pitch_)))));
  }

  /// Each row's entry k, in all of its lanes.
  [[nodiscard]] HWY_INLINE V entry(V rows, std::int64_t k) const {
    return hn::TableLookupLanes(rows, hn::SetTableIndices(d_, entry_[k]));
  }
  /// Each row's first entry, one after the other.
  [[nodiscard]] HWY_INLINE V firsts(V rows) const {
    return hn::TableLookupLanes(rows, hn::SetTableIndices(d_, first_));
  }
  /// Each row's largest entry, in all of its lanes.
  [[nodiscard]] HWY_INLINE V largest(V rows) const {
    for (int power = 0; (1 << power) < pitch_; ++power) {
      rows = hn::Max(rows, hn::TableLookupLanes(rows, hn::SetTableIndices(d_, other_[power])));
    }
    return rows;
  }

 private:
  using Index = hn::TFromD<hn::RebindToSigned<GemmTag<T>>>;
  static constexpr std::int64_t most_lanes = 64 / sizeof(T);

  const GemmTag<T> d_{};
  std::int64_t pitch_, together_;
  alignas(64) Index entry_[most_lanes][most_lanes];
  alignas(64) Index other_[4][most_lanes];
  alignas(64) Index first_[most_lanes];
};

/// Entries that one move or two can copy.
inline constexpr std::int64_t few_entries = 8;

/// Calls use(copy) with what copies so many entries, which are few, by one move or by two, which may overlap.
template <class T, class Use>
HWY_INLINE void with_copy_of(std::int64_t count, const Use& use) {
  const auto by = [&]<std::size_t kEntries>(std::integral_constant<std::size_t, kEntries>) {
    const std::int64_t last = count - static_cast<std::int64_t>(kEntries);
    if (last == 0) return use([](T* to, const T* from) { std::memcpy(to, from, kEntries * sizeof(T)); });
    use([last](T* to, const T* from) {
      std::memcpy(to, from, kEntries * sizeof(T));
      std::memcpy(to + last, from + last, kEntries * sizeof(T));
    });
  };
  if (count >= 4) return by(std::integral_constant<std::size_t, 4>());
  if (count >= 2) return by(std::integral_constant<std::size_t, 2>());
  by(std::integral_constant<std::size_t, 1>());
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
