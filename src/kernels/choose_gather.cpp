// Reads rows from strided memory into tiles, for every SIMD target.
#include <algorithm>
#include <cstdint>

#include "kernels/choose.hpp"
#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/choose_gather.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {

/// Rounds as the contraction kernels do: in the arithmetic type, input after input.
template <ChooseCombine kCombine, class T>
HWY_INLINE void put(T* HWY_RESTRICT to, T x) {
  if constexpr (kCombine == ChooseCombine::store) {
    *to = x;
  } else if constexpr (kCombine == ChooseCombine::add) {
    *to += x;
  } else {
    *to = *to == T{0} || x == T{0} ? T{0} : *to * x;
  }
}

/// The difference of neighbouring offsets where it is the same everywhere; -1 where it is not.
inline std::int64_t step_of(const std::int64_t* offset, std::int64_t count) {
  if (count < 2) return 1;
  const std::int64_t step = offset[1] - offset[0];
  bool even = true;
  for (std::int64_t l = 2; l < count; ++l) even &= offset[l] - offset[l - 1] == step;
  return even ? step : -1;
}

/// Where runs of neighbouring lanes begin, and the end; none where they are too short to be worth a loop each.
inline std::int64_t runs_of(const std::int64_t* offset, std::int64_t lanes, std::int64_t* run) {
  constexpr std::int64_t worth = 8;
  std::int64_t runs = 0;
  for (std::int64_t l = 0; l < lanes; ++l) {
    if (l == 0 || offset[l] != offset[l - 1] + 1) run[runs++] = l;
  }
  run[runs] = lanes;
  return runs * worth <= lanes ? runs : 0;
}

/// Lines that are needed soon; a loop of loads would wait for the first before it asks for many more.
constexpr std::int64_t rows_ahead = 12;
constexpr std::int64_t states_ahead = 2;
template <class From>
HWY_INLINE void prefetch_row(const From* from, std::int64_t states) {
  for (std::int64_t s = 0; s < states; s += static_cast<std::int64_t>(64 / sizeof(From))) hwy::Prefetch(from + s);
  hwy::Prefetch(from + states - 1);
}

template <ChooseCombine kCombine, class T, class From>
void gather_as(const ChooseTile& tile, const ChooseSource& source) {
  auto* HWY_RESTRICT data = static_cast<T*>(tile.data);
  const auto* HWY_RESTRICT base = static_cast<const From*>(source.base);
  const std::int64_t* HWY_RESTRICT lane = source.lane_offset;
  const std::int64_t* HWY_RESTRICT state = source.state_offset;
  const std::int64_t lanes = tile.lanes, states = tile.states, pitch = tile.pitch;
  const std::int64_t lane_step = step_of(lane, lanes);
  if (lanes > 1 && (lane_step == 0 || lane_step == 1)) {
    for (std::int64_t s = 0; s < states; ++s) {
      const From* from = base + lane[0] + state[s];
      T* to = data + s * pitch;
      if (lane_step == 0) {
        for (std::int64_t l = 0; l < lanes; ++l) put<kCombine>(to + l, static_cast<T>(*from));
      } else {
        for (std::int64_t l = 0; l < lanes; ++l) put<kCombine>(to + l, static_cast<T>(from[l]));
      }
    }
  } else if (states > 1 && step_of(state, states) == 1) {  // each row lies in one piece
    for (std::int64_t l = 0; l < std::min(lanes, rows_ahead); ++l) prefetch_row(base + lane[l] + state[0], states);
    for (std::int64_t l = 0; l < lanes; ++l) {
      const From* from = base + lane[l] + state[0];
      if (l + rows_ahead < lanes) prefetch_row(base + lane[l + rows_ahead] + state[0], states);
      for (std::int64_t s = 0; s < states; ++s) put<kCombine>(data + s * pitch + l, static_cast<T>(from[s]));
    }
  } else if (std::int64_t run[choose_lanes + 1]; const std::int64_t runs = runs_of(lane, lanes, run)) {
    for (std::int64_t s = 0; s < states; ++s) {
      const From* from = base + state[s];
      T* to = data + s * pitch;
      for (std::int64_t r = 0; r < runs; ++r) {
        const From* first = from + lane[run[r]];
        for (std::int64_t l = run[r]; l < run[r + 1]; ++l) put<kCombine>(to + l, static_cast<T>(first[l - run[r]]));
      }
    }
  } else {
    for (std::int64_t s = 0; s < states; ++s) {
      const From* from = base + state[s];
      const From* ahead = base + state[std::min(s + states_ahead, states - 1)];
      T* to = data + s * pitch;
      for (std::int64_t l = 0; l < lanes; ++l) {
        hwy::Prefetch(ahead + lane[l]);
        put<kCombine>(to + l, static_cast<T>(from[lane[l]]));
      }
    }
  }
}

template <class T, class From>
void gather_combined(const ChooseTile& tile, const ChooseSource& source, ChooseCombine combine) {
  switch (combine) {
    case ChooseCombine::store:
      return gather_as<ChooseCombine::store, T, From>(tile, source);
    case ChooseCombine::add:
      return gather_as<ChooseCombine::add, T, From>(tile, source);
    case ChooseCombine::multiply:
      return gather_as<ChooseCombine::multiply, T, From>(tile, source);
  }
}

void gather(const ChooseTile& tile, const ChooseSource& source, ChooseCombine combine) {
  const bool narrow_source = source.dtype == Dtype::float32;
  if (tile.dtype == Dtype::float32) return gather_combined<float, float>(tile, source, combine);
  if (narrow_source) return gather_combined<double, float>(tile, source, combine);
  gather_combined<double, double>(tile, source, combine);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "base/assert.hpp"

namespace plated::kernels {

HWY_EXPORT(gather);

void choose_gather(const ChooseTile& tile, const ChooseSource& source, ChooseCombine combine) noexcept {
  PLATED_ASSERT(tile.dtype == Dtype::float64 || source.dtype == Dtype::float32);
  HWY_DYNAMIC_DISPATCH(gather)(tile, source, combine);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
