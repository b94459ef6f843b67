// Finds the best state of each row and draws by weight, for every SIMD target.
#include "kernels/choose.hpp"

#include <algorithm>
#include <limits>

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/choose.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"
#include "kernels/choose_weight-inl.hpp"
#include "kernels/vector_ring-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, bool kLargest>
void best_of(const ChooseTile& tile, std::int64_t first, double* top, std::uint32_t* state) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  using Index = hn::TFromD<decltype(di)>;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto* data = static_cast<const T*>(tile.data);
  HWY_ALIGN T values[HWY_MAX_BYTES / sizeof(T)];
  HWY_ALIGN Index indices[HWY_MAX_BYTES / sizeof(T)];
  for (std::int64_t lane = 0; lane < tile.lanes; lane += width) {
    // NaN is worse than anything: compared with it, no other entry would be better.
    const auto head = hn::LoadU(d, data + lane);
    const auto worst = hn::Set(d, kLargest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity());
    auto best = hn::IfThenElse(hn::Eq(head, head), head, worst);
    auto index = hn::Zero(di);
    for (std::int64_t s = 1; s < tile.states; ++s) {
      const auto x = hn::LoadU(d, data + s * tile.pitch + lane);
      const auto better = kLargest ? hn::Gt(x, best) : hn::Lt(x, best);
      best = hn::IfThenElse(better, x, best);
      index = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, static_cast<Index>(s)), index);
    }
    hn::Store(best, d, values);
    hn::Store(index, di, indices);
    for (std::int64_t l = lane; l < std::min(lane + width, tile.lanes); ++l) {
      const auto value = static_cast<double>(values[l - lane]);
      if (first != 0 && !(kLargest ? value > top[l] : value < top[l])) continue;
      top[l] = value;
      state[l] = static_cast<std::uint32_t>(first + indices[l - lane]);
    }
  }
}

void best(const ChooseTile& tile, bool largest, std::int64_t first, double* top, std::uint32_t* state) {
  if (tile.dtype == Dtype::float32) {
    return largest ? best_of<float, true>(tile, first, top, state) : best_of<float, false>(tile, first, top, state);
  }
  return largest ? best_of<double, true>(tile, first, top, state) : best_of<double, false>(tile, first, top, state);
}

template <class T>
void top_of(const ChooseTile& tile, bool first, double* top) {
  const hn::ScalableTag<T> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto* data = static_cast<const T*>(tile.data);
  HWY_ALIGN T values[HWY_MAX_BYTES / sizeof(T)];
  for (std::int64_t lane = 0; lane < tile.lanes; lane += width) {
    // Compared, as Max may answer NaN or forget what came before it.
    auto high = hn::Set(d, -std::numeric_limits<T>::infinity());
    for (std::int64_t s = 0; s < tile.states; ++s) {
      const auto x = hn::LoadU(d, data + s * tile.pitch + lane);
      high = hn::IfThenElse(hn::Gt(x, high), x, high);
    }
    hn::Store(high, d, values);
    for (std::int64_t l = lane; l < lane + width; ++l) {
      const auto value = static_cast<double>(values[l - lane]);
      top[l] = first ? value : std::max(top[l], value);
    }
  }
}

template <class T>
void weigh_as(const ChooseTile& tile, const double* top, double* total) {
  const hn::ScalableTag<T> d;
  const hn::ScalableTag<double> d64;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const auto half = static_cast<std::int64_t>(hn::Lanes(d64));
  auto* data = static_cast<T*>(tile.data);
  HWY_ALIGN T shifts[HWY_MAX_BYTES / sizeof(T)];
  for (std::int64_t lane = 0; lane < tile.lanes; lane += width) {
    for (std::int64_t l = 0; l < width; ++l) {
      shifts[l] = static_cast<T>(std::max(top[lane + l], static_cast<double>(std::numeric_limits<T>::lowest())));
    }
    const auto shift = hn::Load(d, shifts);
    for (std::int64_t s = 0; s < tile.states; ++s) {
      T* x = data + s * tile.pitch + lane;
      hn::StoreU(weight_of(d, hn::Sub(hn::LoadU(d, x), shift)), d, x);
    }
    for (std::int64_t l = lane; l < lane + width; l += half) {
      auto sum = hn::LoadU(d64, total + l);
      for (std::int64_t s = 0; s < tile.states; ++s) sum = hn::Add(sum, load_doubles(d64, data + s * tile.pitch + l));
      hn::StoreU(sum, d64, total + l);
    }
  }
}

template <class T>
void pass_as(const ChooseTile& tile, const double* target, std::uint32_t last, double* passed, std::uint32_t* state) {
  const hn::ScalableTag<double> d64;
  const auto half = static_cast<std::int64_t>(hn::Lanes(d64));
  const auto* data = static_cast<const T*>(tile.data);
  HWY_ALIGN double counts[HWY_MAX_BYTES / sizeof(double)];
  const auto one = hn::Set(d64, 1.0);
  for (std::int64_t lane = 0; lane < tile.lanes; lane += half) {
    const auto goal = hn::LoadU(d64, target + lane);
    auto sum = hn::LoadU(d64, passed + lane);
    auto below = hn::Zero(d64);
    for (std::int64_t s = 0; s < tile.states; ++s) {
      sum = hn::Add(sum, load_doubles(d64, data + s * tile.pitch + lane));
      below = hn::Add(below, hn::IfThenElseZero(hn::Le(sum, goal), one));
    }
    hn::StoreU(sum, d64, passed + lane);
    hn::Store(below, d64, counts);
    for (std::int64_t l = lane; l < std::min(lane + half, tile.lanes); ++l) {
      state[l] = std::min(state[l] + static_cast<std::uint32_t>(counts[l - lane]), last);
    }
  }
}

template <class T>
void tabulate_as(const ChooseTile& tile, const double* total, std::int32_t* table, std::int64_t lane_pitch,
                 std::int64_t length) {
  const auto* data = static_cast<const T*>(tile.data);
  double sum[choose_lanes] = {};
  double scale[choose_lanes];
  for (std::int64_t l = 0; l < tile.lanes; ++l) scale[l] = 0x1p32 / total[l];
  for (std::int64_t s = 0; s < tile.states; ++s) {
    const T* weight = data + s * tile.pitch;
    std::int32_t rounded[choose_lanes];
    for (std::int64_t l = 0; l < tile.lanes; ++l) {
      sum[l] += static_cast<double>(weight[l]);
      // In this order NaN, as of a row without weights, becomes the largest number.
      rounded[l] = static_cast<std::int32_t>(std::min(0x1p32 - 1, sum[l] * scale[l]) - 0x1p31);
    }
    for (std::int64_t l = 0; l < tile.lanes; ++l) table[l * lane_pitch + s] = rounded[l];
  }
  // The last sum is the total, whatever it has been rounded to: nothing is looked up beyond it.
  for (std::int64_t l = 0; l < tile.lanes; ++l) {
    std::int32_t* row = table + l * lane_pitch;
    std::fill(row + tile.states - 1, row + length, std::numeric_limits<std::int32_t>::max());
  }
}

/// Rounded sums are off by less than one unit, and the number lies within one unit above its word: sums that are
/// further than that from the word are below or above the target for sure. Other errors are some 2^-20 units.
std::int64_t look_up(const std::int32_t* table, std::int64_t row_length, const std::uint32_t* row,
                     const std::uint32_t* word, std::int64_t count, std::uint32_t* state) {
  const hn::ScalableTag<std::int32_t> d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr std::int64_t few = 4 * choose_pitch;
  constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
  std::int64_t unsure = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int32_t* begin = table + static_cast<std::int64_t>(row[k]) * row_length;
    const std::int64_t at = std::int64_t{word[k]} + lowest;
    const auto low = static_cast<std::int32_t>(std::max(at - 1, lowest));
    const std::int32_t* from = begin;
    std::int64_t length = row_length;
    while (length > few) {
      const std::int64_t half = length / 2 / choose_pitch * choose_pitch;
      const bool beyond = from[half - 1] < low;
      from += beyond ? half : 0;
      length = beyond ? length - half : half;
    }
    std::size_t below = 0;
    const auto goal = hn::Set(d, low);
    for (std::int64_t s = 0; s < length; s += width) below += hn::CountTrue(d, hn::Gt(goal, hn::LoadU(d, from + s)));
    from += below;
    // The last sum is not below any word, so this is a sum, even where sums do not grow.
    const bool sure = *from > at + 1;
    state[k] = sure ? static_cast<std::uint32_t>(from - begin) : choose_unsure;
    unsure += sure ? 0 : 1;
  }
  return unsure;
}

void top(const ChooseTile& tile, bool first, double* to) {
  tile.dtype == Dtype::float32 ? top_of<float>(tile, first, to) : top_of<double>(tile, first, to);
}
void weigh(const ChooseTile& tile, const double* high, double* total) {
  tile.dtype == Dtype::float32 ? weigh_as<float>(tile, high, total) : weigh_as<double>(tile, high, total);
}
void pass(const ChooseTile& tile, const double* target, std::uint32_t last, double* passed, std::uint32_t* state) {
  tile.dtype == Dtype::float32 ? pass_as<float>(tile, target, last, passed, state)
                               : pass_as<double>(tile, target, last, passed, state);
}
void tabulate(const ChooseTile& tile, const double* total, std::int32_t* table, std::int64_t lane_pitch,
              std::int64_t length) {
  tile.dtype == Dtype::float32 ? tabulate_as<float>(tile, total, table, lane_pitch, length)
                               : tabulate_as<double>(tile, total, table, lane_pitch, length);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(best);
HWY_EXPORT(top);
HWY_EXPORT(weigh);
HWY_EXPORT(pass);
HWY_EXPORT(tabulate);
HWY_EXPORT(look_up);

void choose_best(const ChooseTile& tile, bool largest, std::int64_t first, double* running,
                 std::uint32_t* state) noexcept {
  HWY_DYNAMIC_DISPATCH(best)(tile, largest, first, running, state);
}
void choose_top(const ChooseTile& tile, bool first, double* running) noexcept {
  HWY_DYNAMIC_DISPATCH(top)(tile, first, running);
}
void choose_weigh(const ChooseTile& tile, const double* high, double* total) noexcept {
  HWY_DYNAMIC_DISPATCH(weigh)(tile, high, total);
}
void choose_pass(const ChooseTile& tile, const double* target, std::uint32_t last, double* passed,
                 std::uint32_t* state) noexcept {
  HWY_DYNAMIC_DISPATCH(pass)(tile, target, last, passed, state);
}
void choose_tabulate(const ChooseTile& weights, const double* total, std::int32_t* table, std::int64_t lane_pitch,
                     std::int64_t length) noexcept {
  HWY_DYNAMIC_DISPATCH(tabulate)(weights, total, table, lane_pitch, length);
}
std::int64_t choose_look_up(const std::int32_t* table, std::int64_t length, const std::uint32_t* row,
                            const std::uint32_t* word, std::int64_t count, std::uint32_t* state) noexcept {
  return HWY_DYNAMIC_DISPATCH(look_up)(table, length, row, word, count, state);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
