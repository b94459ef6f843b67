// Packing: strided, converted, transposed or multiplied inputs become a tile of contiguous lanes. Recompiled per
// target.
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

/// to[i] = from[i · stride], or times it.
template <class Ring, class T, class From>
HWY_INLINE void pack_strided(T* to, const From* from, std::int64_t count, std::int64_t stride, bool multiply) {
  if (multiply) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = multiply_scalars<Ring>(to[i], static_cast<T>(from[i * stride]));
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i * stride]);
  }
}

/// The same for stride 1, in vectors where no conversion is needed.
template <class Ring, class T, class From>
HWY_INLINE void pack_contiguous(T* to, const From* from, std::int64_t count, bool multiply) {
  std::int64_t i = 0;
  if constexpr (sizeof(T) == sizeof(From)) {
    const hn::ScalableTag<T> d;
    const auto width = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i + width <= count; i += width) {
      const auto x = hn::LoadU(d, from + i);
      hn::StoreU(multiply ? VectorRing<Ring>::multiply(hn::LoadU(d, to + i), x) : x, d, to + i);
    }
  }
  pack_strided<Ring>(to + i, from + i, count - i, 1, multiply);
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
    for (std::int64_t l = lane; l < lane + width; ++l) {
      for (std::int64_t r = 0; r < rows; r += static_cast<std::int64_t>(64 / sizeof(T))) {
        hwy::Prefetch(ahead + l * stride + r);
      }
    }
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
  for (std::size_t i = 0; i < source.run_count && source.runs[i].begin < lanes; ++i) {
    const Run& run = source.runs[i];
    const std::int64_t length = std::min(run.length, lanes - run.begin);
#if HWY_TARGET != HWY_SCALAR
    if constexpr (sizeof(T) == sizeof(From)) {
      if (!multiply && run.step != 0 && run.step != 1 && adjacent(source.row_offset, rows)) {
        const std::int64_t offset = source.row_offset[0] + run.target;
        transpose(tile + run.begin, pitch, rows, base + offset, static_cast<const From*>(source.ahead) + offset, length,
                  run.step);
        continue;
      }
    }
#endif
    for (std::int64_t r = 0; r < rows; ++r) {
      const From* from = base + source.row_offset[r] + run.target;
      T* to = tile + r * pitch + run.begin;
      if (run.step == 0) {
        pack_broadcast<Ring>(to, static_cast<T>(*from), length, multiply);
      } else if (run.step == 1) {
        pack_contiguous<Ring>(to, from, length, multiply);
      } else {
        pack_strided<Ring>(to, from, length, run.step, multiply);
      }
    }
  }
}

template <class Ring, class T>
void pack(void* tile, std::int64_t pitch, std::int64_t rows, std::int64_t lanes, const PackSource& source,
          bool multiply) {
  if (source.dtype == Dtype::float32) {
    pack_from<Ring, T, float>(static_cast<T*>(tile), pitch, rows, lanes, source, multiply);
  } else {
    pack_from<Ring, T, double>(static_cast<T*>(tile), pitch, rows, lanes, source, multiply);
  }
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
