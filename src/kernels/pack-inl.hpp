// Packs strided inputs, converted, transposed or multiplied, into a tile of contiguous lanes. Recompiled per target.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/reduce_kernels.hpp"
#include "kernels/vector_ring-inl.hpp"

#if defined(PLATED_KERNELS_PACK_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_PACK_INL_HPP_
#undef PLATED_KERNELS_PACK_INL_HPP_
#else
#define PLATED_KERNELS_PACK_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A vector of elements in the arithmetic type.
template <class D, class From>
HWY_INLINE hn::Vec<D> load_as(D d, const From* from) {
  if constexpr (sizeof(From) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, from);
  } else {
    return load_doubles(d, from);
  }
}

/// to[i] = from[i · stride], or times it.
template <class Ring, class T, class From>
HWY_INLINE void pack_strided(T* to, const From* from, std::int64_t count, std::int64_t stride, bool multiply) {
  if (multiply) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = multiply_scalars<Ring>(to[i], static_cast<T>(from[i * stride]));
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i * stride]);
  }
}

/// The same for stride 1, in all rows of a tile. Runs shorter than a vector take the largest part of one that fits;
/// what remains of a run is a last vector that overlaps the one before, formed before any of them is written.
template <class Ring, bool kMultiply, class D, class From, class T = hn::TFromD<D>>
void pack_contiguous(D d, T* HWY_RESTRICT to, std::int64_t pitch, const From* HWY_RESTRICT base,
                     const std::int64_t* HWY_RESTRICT row_offset, std::int64_t rows, std::int64_t count) {
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (count < width) {
      pack_contiguous<Ring, kMultiply>(hn::Half<D>(), to, pitch, base, row_offset, rows, count);
      return;
    }
  }
  const auto element = [d](const T* old, const From* from) HWY_ATTR {
    const auto x = load_as(d, from);
    if constexpr (kMultiply) return VectorRing<Ring>::multiply(hn::LoadU(d, old), x);
    return x;
  };
  if (count == width) {  // short runs are many: as little as possible for each
    for (std::int64_t r = 0; r < rows; ++r, to += pitch) hn::StoreU(element(to, base + row_offset[r]), d, to);
    return;
  }
  const std::int64_t last = count - width;
  for (std::int64_t r = 0; r < rows; ++r, to += pitch) {
    const From* from = base + row_offset[r];
    const auto rest = element(to + last, from + last);
    for (std::int64_t i = 0; i < last; i += width) hn::StoreU(element(to + i, from + i), d, to + i);
    hn::StoreU(rest, d, to + last);
  }
}

/// The same for one value in all lanes.
template <class Ring, class T>
HWY_INLINE void pack_broadcast(T* to, T value, std::int64_t count, bool multiply) {
  const hn::ScalableTag<T> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto x = hn::Set(d, value);
  std::int64_t i = 0;
  for (; i + width <= count; i += width) {
    hn::StoreU(multiply ? VectorRing<Ring>::multiply(hn::LoadU(d, to + i), x) : x, d, to + i);
  }
  for (; i < count; ++i) to[i] = multiply ? multiply_scalars<Ring>(to[i], value) : value;
}

/// Brings in a stretch of memory.
template <class From>
HWY_INLINE void prefetch_span(const From* begin, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(64 / sizeof(From))) hwy::Prefetch(begin + i);
}

#if HWY_TARGET != HWY_SCALAR
/// A vector whose 128-bit blocks come from addresses `step` apart.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_blocks(D d, const T* from, std::int64_t step) {
  if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    const auto high_step = static_cast<std::int64_t>(hn::Lanes(half) * sizeof(T) / 16) * step;
    return hn::Combine(d, load_blocks(half, from + high_step, step), load_blocks(half, from, step));
  }
}

/// Transposes as many rows as a 128-bit block has elements by one vector of lanes: to[row · pitch + lane] =
/// from[row + lane · stride].
HWY_INLINE void transpose_block(float* to, std::int64_t pitch, const float* from, std::int64_t stride) {
  const hn::ScalableTag<float> d;
  const hn::ScalableTag<double> d64;
  const auto a = load_blocks(d, from, 4 * stride);
  const auto b = load_blocks(d, from + stride, 4 * stride);
  const auto c = load_blocks(d, from + 2 * stride, 4 * stride);
  const auto e = load_blocks(d, from + 3 * stride, 4 * stride);
  const auto ab_low = hn::BitCast(d64, hn::InterleaveLower(d, a, b));   // a0 b0 a1 b1
  const auto ce_low = hn::BitCast(d64, hn::InterleaveLower(d, c, e));   // c0 e0 c1 e1
  const auto ab_high = hn::BitCast(d64, hn::InterleaveUpper(d, a, b));  // a2 b2 a3 b3
  const auto ce_high = hn::BitCast(d64, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, ab_low, ce_low)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, ab_low, ce_low)), d, to + pitch);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d64, ab_high, ce_high)), d, to + 2 * pitch);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d64, ab_high, ce_high)), d, to + 3 * pitch);
}
HWY_INLINE void transpose_block(double* to, std::int64_t pitch, const double* from, std::int64_t stride) {
  const hn::ScalableTag<double> d;
  const auto a = load_blocks(d, from, 2 * stride);
  const auto b = load_blocks(d, from + stride, 2 * stride);
  hn::StoreU(hn::InterleaveLower(d, a, b), d, to);
  hn::StoreU(hn::InterleaveUpper(d, a, b), d, to + pitch);
}

/// Rows lie next to each other in memory, lanes `stride` apart.
template <class T>
void transpose(T* to, std::int64_t pitch, std::int64_t rows, const T* from, const T* ahead, std::int64_t lanes,
               std::int64_t stride) {
  const auto width = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  constexpr std::int64_t block = 16 / sizeof(T);
  std::int64_t lane = 0;
  for (; rows >= block && lane + width <= lanes; lane += width) {
    for (std::int64_t l = lane; ahead != nullptr && l < lane + width; ++l) prefetch_span(ahead + l * stride, rows);
    for (std::int64_t r = 0; r < rows; r += block) {
      const std::int64_t row = std::min(r, rows - block);  // the last block overlaps the one before
      transpose_block(to + row * pitch + lane, pitch, from + row + lane * stride, stride);
    }
  }
  for (; lane < lanes; ++lane) {
    for (std::int64_t r = 0; r < rows; ++r) to[r * pitch + lane] = from[r + lane * stride];
  }
}
#endif

inline bool adjacent(const std::int64_t* row_offset, std::int64_t rows) {
  for (std::int64_t r = 1; r < rows; ++r) {
    if (row_offset[r] != row_offset[0] + r) return false;
  }
  return true;
}

template <class Ring, class T, class From>
void pack_from(T* tile, std::int64_t pitch, std::int64_t rows, std::int64_t lanes, const PackSource& source,
               bool multiply) {
  const auto* base = static_cast<const From*>(source.base);
  const auto* ahead = static_cast<const From*>(source.ahead);
  if (source.runs == nullptr) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const From* from = base + source.row_offset[r];
      T* to = tile + r * pitch;
      if (multiply) {
        for (std::int64_t l = 0; l < lanes; ++l) {
          to[l] = multiply_scalars<Ring>(to[l], static_cast<T>(from[source.lane_offset[l]]));
        }
      } else {
        for (std::int64_t l = 0; l < lanes; ++l) to[l] = static_cast<T>(from[source.lane_offset[l]]);
      }
    }
    return;
  }
  const std::int64_t span = source.row_offset[rows - 1] - source.row_offset[0];
  const bool rows_share_lines = span >= 0 && span * static_cast<std::int64_t>(sizeof(From)) < 64 * (rows - 1);
  for (std::size_t i = 0; i < source.run_count && source.runs[i].begin < lanes; ++i) {
    const Run& run = source.runs[i];
    const std::int64_t length = std::min(run.length, lanes - run.begin);
#if HWY_TARGET != HWY_SCALAR
    if constexpr (sizeof(T) == sizeof(From)) {
      if (!multiply && run.step != 0 && run.step != 1 && adjacent(source.row_offset, rows)) {
        const std::int64_t offset = source.row_offset[0] + run.target;
        transpose(tile + run.begin, pitch, rows, base + offset, ahead == nullptr ? nullptr : ahead + offset, length,
                  run.step);
        continue;
      }
    }
#endif
    if constexpr (sizeof(T) >= sizeof(From)) {
      if (run.step == 1) {
        if (ahead != nullptr && !multiply && rows_share_lines) {
          prefetch_span(ahead + source.row_offset[0] + run.target, span + length);
        }
        const hn::ScalableTag<T> d;
        if (multiply) {
          pack_contiguous<Ring, true>(d, tile + run.begin, pitch, base + run.target, source.row_offset, rows, length);
        } else {
          pack_contiguous<Ring, false>(d, tile + run.begin, pitch, base + run.target, source.row_offset, rows, length);
        }
        continue;
      }
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      const From* from = base + source.row_offset[r] + run.target;
      T* to = tile + r * pitch + run.begin;
      if (run.step == 0) {
        pack_broadcast<Ring>(to, static_cast<T>(*from), length, multiply);
      } else {
        pack_strided<Ring>(to, from, length, run.step, multiply);
      }
    }
  }
}

/// The semiring whose packing serves this one, since it multiplies alike.
template <class Ring>
struct PackedAs {
  using type = Ring;
};
template <>
struct PackedAs<semiring::MaxPlus> {
  using type = semiring::Log;
};
template <>
struct PackedAs<semiring::MaxProduct> {
  using type = semiring::Real;
};

template <class Ring, class T>
void pack(void* tile, std::int64_t pitch, std::int64_t rows, std::int64_t lanes, const PackSource& source,
          bool multiply) {
  using As = typename PackedAs<Ring>::type;
  if (source.dtype == Dtype::float32) {
    pack_from<As, T, float>(static_cast<T*>(tile), pitch, rows, lanes, source, multiply);
  } else {
    pack_from<As, T, double>(static_cast<T*>(tile), pitch, rows, lanes, source, multiply);
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
