// Packing: gathers a strided panel into the order in which the register tile reads it, and shifts it out of log space.
//
// A panel of width W holds entry (k, w) at k · W + w. Row panels (W ≤ 6) and column panels (W = one or two vectors) are
// treated alike; vector number v of a panel has the same w in its lanes as vector v + period(W).
#if defined(PLATED_KERNELS_GEMM_PACK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PLATED_KERNELS_GEMM_PACK_INL
#undef PLATED_KERNELS_GEMM_PACK_INL
#else
#define PLATED_KERNELS_GEMM_PACK_INL
#endif

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/gemm_algebra-inl.hpp"
#include "kernels/gemm_tiling.hpp"
#include "kernels/math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// One operand of a tile: entry (w, k) lies at data[wide[w] + deep[k]].
struct PanelSource {
  const void* data;  // at the tile's batch and product index
  Dtype dtype;
  const std::int64_t* wide;
  const std::int64_t* deep;
  bool wide_contiguous, deep_contiguous;
};

// `used` entries of each step are there, the rest of the width is filled with 0: its sums are never looked at.
template <class Source, class T>
HWY_NOINLINE void gather_from(const PanelSource& from, std::int64_t first, std::int64_t used, std::int64_t width,
                              std::int64_t depth, T* HWY_RESTRICT panel) {
  const Source* HWY_RESTRICT data = static_cast<const Source*>(from.data);
  const std::int64_t* wide = from.wide + first;
  if (used < width) std::fill(panel, panel + width * depth, T{0});
  const GemmTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (std::is_same_v<Source, T> && from.wide_contiguous && used % lanes == 0) {
    const T* HWY_RESTRICT block = static_cast<const T*>(from.data) + wide[0];
    for (std::int64_t k = 0; k < depth; ++k, panel += width) {
      for (std::int64_t w = 0; w < used; w += lanes) hn::StoreU(hn::LoadU(d, block + from.deep[k] + w), d, panel + w);
    }
  } else if (from.wide_contiguous) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const Source* HWY_RESTRICT row = data + wide[0] + from.deep[k];
      for (std::int64_t w = 0; w < used; ++w) panel[k * width + w] = static_cast<T>(row[w]);
    }
  } else if (from.deep_contiguous) {
    for (std::int64_t w = 0; w < used; ++w) {
      const Source* HWY_RESTRICT column = data + wide[w] + from.deep[0];
      for (std::int64_t k = 0; k < depth; ++k) panel[k * width + w] = static_cast<T>(column[k]);
    }
  } else {
    for (std::int64_t k = 0; k < depth; ++k) {
      const Source* HWY_RESTRICT row = data + from.deep[k];
      for (std::int64_t w = 0; w < used; ++w) panel[k * width + w] = static_cast<T>(row[wide[w]]);
    }
  }
}

template <class T>
void gather_panel(const PanelSource& from, std::int64_t first, std::int64_t used, std::int64_t width,
                  std::int64_t depth, T* panel) {
  if (from.dtype == Dtype::float32) {
    gather_from<float>(from, first, used, width, depth, panel);
  } else {
    gather_from<double>(from, first, used, width, depth, panel);
  }
}

template <class T>
struct PanelVectors {
  PanelVectors(std::int64_t width, std::int64_t depth)
      : lanes(static_cast<std::int64_t>(hn::Lanes(GemmTag<T>()))),
        period(width % lanes == 0 ? width / lanes : width),
        count((width * depth + lanes - 1) / lanes) {}
  std::int64_t lanes, period, count;
};

/// Lowers `least` and raises `largest` by the panel's entries, for each of its `used` rows or columns. −inf is not
/// counted among the least.
template <class T>
void widen_range(T* panel, std::int64_t used, std::int64_t width, std::int64_t depth, T* largest, T* least) {
  const GemmTag<T> d;
  const PanelVectors<T> vectors(width, depth);
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::fill(panel + width * depth, panel + vectors.count * vectors.lanes, -infinity);
  std::int64_t w = 0;  // of the lane that is looked at: counted, as divisions would cost more than the loads
  for (std::int64_t phase = 0; phase < vectors.period; ++phase) {
    auto high = hn::Set(d, -infinity), low = hn::Set(d, infinity);
    for (std::int64_t v = phase; v < vectors.count; v += vectors.period) {
      const auto x = hn::LoadU(d, panel + v * vectors.lanes);
      high = hn::Max(high, x);
      low = hn::Min(low, hn::IfThenElse(hn::Eq(x, hn::Set(d, -infinity)), hn::Set(d, infinity), x));
    }
    HWY_ALIGN T highs[gemm_max_lanes], lows[gemm_max_lanes];
    hn::Store(high, d, highs);
    hn::Store(low, d, lows);
    for (std::int64_t i = 0; i < vectors.lanes; ++i) {
      if (w < used) {
        largest[w] = std::max(largest[w], highs[i]);
        least[w] = std::min(least[w], lows[i]);
      }
      if (++w == width) w = 0;
    }
  }
}

/// Replaces the panel's entries x of row or column w by exp(x − shift[w]).
template <class T>
void exponentiate(T* panel, const T* shift, std::int64_t used, std::int64_t width, std::int64_t depth) {
  const GemmTag<T> d;
  const PanelVectors<T> vectors(width, depth);
  HWY_ALIGN T pattern[gemm_max_rows * gemm_max_lanes];
  for (std::int64_t i = 0, w = 0; i < vectors.period * vectors.lanes; ++i) {
    pattern[i] = w < used ? shift[w] : 0;
    if (++w == width) w = 0;
  }
  for (std::int64_t phase = 0; phase < vectors.period; ++phase) {
    const auto by = hn::Load(d, pattern + phase * vectors.lanes);
    for (std::int64_t v = phase; v < vectors.count; v += vectors.period) {
      T* at = panel + v * vectors.lanes;
      hn::StoreU(Exp(d, hn::Sub(hn::LoadU(d, at), by)), d, at);
    }
  }
}

/// Replaces what is not zero by one.
template <class T>
void booleans(T* panel, std::int64_t width, std::int64_t depth) {
  for (std::int64_t i = 0; i < width * depth; ++i) panel[i] = panel[i] != 0 ? T{1} : T{0};
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
