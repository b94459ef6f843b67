// Walks paths with the states of one row side by side, for every SIMD target.
#include "kernels/choose_path.hpp"

#include <algorithm>
#include <limits>

#include "kernels/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/choose_path.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/baseline-inl.hpp"
#include "kernels/choose_weight-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace plated::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows shorter than that are not worth vectors that are reduced to one number.
constexpr std::int64_t short_row = 8;

template <class T>
class PathWalk {
 public:
  explicit PathWalk(const ChoosePath& path)
      : path_(path),
        states_(path.states),
        padded_(choose_path_scratch(path.states) / 3),
        row_(reinterpret_cast<T*>(path.scratch)),
        weight_(reinterpret_cast<T*>(path.scratch + padded_)),
        sum_(path.scratch + 2 * padded_),
        worst_(path.largest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity()) {
    std::fill(row_ + states_, row_ + padded_, worst_);
    constexpr Dtype own = sizeof(T) == sizeof(double) ? Dtype::float64 : Dtype::float32;
    plain_ = path.combine == ChooseCombine::add && path.count >= 2 && path.count <= 3 &&
             std::all_of(path.inputs, path.inputs + path.count, [](const ChoosePath::Input& input) {
               return input.dtype == own && input.stride == 1 && input.state_offset == nullptr;
             });
  }

  std::uint32_t run(std::uint32_t known, std::int64_t steps, const double* uniform, std::uint32_t* chosen,
                    std::uint32_t* known_there) {
    for (std::int64_t k = 0; k < steps; ++k) {
      plain_ ? read_plain(k, known) : read(k, known);
      const std::uint32_t state = uniform != nullptr ? draw(uniform[k]) : best();
      chosen[k] = state;
      known_there[k] = known;
      known = path_.from_state == nullptr ? state : path_.from_state[state] + path_.from_known[known];
    }
    return known;
  }

 private:
  /// All at once what read() does one after another.
  HWY_INLINE void read_plain(std::int64_t step, std::uint32_t known) {
    const auto from = [&](std::size_t i) {
      const ChoosePath::Input& input = path_.inputs[i];
      return static_cast<const T*>(input.data) + step * input.step + input.known_offset[known];
    };
    const bool three = path_.count == 3;
    const T *a = from(0), *b = from(1), *c = three ? from(2) : nullptr;
    std::int64_t s = 0;
    // In the vectors that are read again: one that was written in pieces would have to wait for all of them.
    for (const auto width = static_cast<std::int64_t>(hn::Lanes(d_)); s + width <= states_; s += width) {
      const auto x = hn::Add(hn::LoadU(d_, a + s), hn::LoadU(d_, b + s));
      hn::StoreU(three ? hn::Add(x, hn::LoadU(d_, c + s)) : x, d_, row_ + s);
    }
    for (; s < states_; ++s) row_[s] = three ? (a[s] + b[s]) + c[s] : a[s] + b[s];
  }

  void read(std::int64_t step, std::uint32_t known) {
    for (std::size_t i = 0; i < path_.count; ++i) {
      const ChoosePath::Input& input = path_.inputs[i];
      const std::int64_t at = step * input.step + input.known_offset[known];
      const ChooseCombine combine = i == 0 ? ChooseCombine::store : path_.combine;
      if (input.dtype == Dtype::float32) {
        read_as(input, static_cast<const float*>(input.data) + at, combine);
      } else if constexpr (sizeof(T) == sizeof(double)) {
        read_as(input, static_cast<const double*>(input.data) + at, combine);
      }
    }
  }

  template <class From>
  HWY_INLINE void read_as(const ChoosePath::Input& input, const From* HWY_RESTRICT from, ChooseCombine combine) {
    if (input.state_offset != nullptr) {
      put(combine, [&](std::int64_t s) { return static_cast<T>(from[input.state_offset[s]]); });
    } else if (input.stride == 1) {
      put(combine, [&](std::int64_t s) { return static_cast<T>(from[s]); });
    } else {
      put(combine, [&](std::int64_t s) { return static_cast<T>(from[s * input.stride]); });
    }
  }

  /// Rounds as the contraction kernels do: in the arithmetic type, input after input.
  template <class Entry>
  HWY_INLINE void put(ChooseCombine combine, const Entry& entry) {
    T* HWY_RESTRICT to = row_;
    switch (combine) {
      case ChooseCombine::store:
        for (std::int64_t s = 0; s < states_; ++s) to[s] = entry(s);
        break;
      case ChooseCombine::add:
        for (std::int64_t s = 0; s < states_; ++s) to[s] += entry(s);
        break;
      case ChooseCombine::multiply:
        for (std::int64_t s = 0; s < states_; ++s) {
          const T x = entry(s);
          to[s] = to[s] == T{0} || x == T{0} ? T{0} : to[s] * x;
        }
        break;
    }
  }

  template <bool kLargest>
  [[nodiscard]] HWY_INLINE T top() const {
    const auto better = [](T x, T y) { return kLargest ? x > y : x < y; };
    T high = worst_;  // no NaN is better
    if (states_ < short_row) {
      for (std::int64_t s = 0; s < states_; ++s) high = better(row_[s], high) ? row_[s] : high;
      return high;
    }
    auto highs = hn::Set(d_, worst_);
    const auto width = static_cast<std::int64_t>(hn::Lanes(d_));
    for (std::int64_t s = 0; s < states_; s += width) {
      const auto x = hn::LoadU(d_, row_ + s);
      highs = hn::IfThenElse(kLargest ? hn::Gt(x, highs) : hn::Lt(x, highs), x, highs);
    }
    HWY_ALIGN T values[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(highs, d_, values);
    for (std::int64_t l = 0; l < width; ++l) high = better(values[l], high) ? values[l] : high;
    return high;
  }

  /// The lowest among equals; where nothing is better than the worst, the first.
  [[nodiscard]] std::uint32_t best() const {
    const T high = path_.largest ? top<true>() : top<false>();
    if (high == worst_) return 0;
    std::int64_t s = 0;
    if (states_ < short_row) {
      while (row_[s] != high) ++s;
      return static_cast<std::uint32_t>(s);
    }
    const auto goal = hn::Set(d_, high);
    for (;; s += static_cast<std::int64_t>(hn::Lanes(d_))) {
      const auto found = hn::FindFirstTrue(d_, hn::Eq(hn::LoadU(d_, row_ + s), goal));
      if (found >= 0) return static_cast<std::uint32_t>(s + found);
    }
  }

  [[nodiscard]] std::uint32_t draw(double uniform) {
    const auto shift = hn::Set(d_, std::max(top<true>(), std::numeric_limits<T>::lowest()));
    for (std::int64_t s = 0; s < states_; s += static_cast<std::int64_t>(hn::Lanes(d_))) {
      hn::StoreU(weight_of(d_, hn::Sub(hn::LoadU(d_, row_ + s), shift)), d_, weight_ + s);
    }
    double sum = 0;
    for (std::int64_t s = 0; s < states_; ++s) sum_[s] = sum += static_cast<double>(weight_[s]);
    const double target = sum * uniform;
    std::int64_t below = 0;
    for (std::int64_t s = 0; s < states_; ++s) below += sum_[s] <= target ? 1 : 0;
    return static_cast<std::uint32_t>(std::min(below, states_ - 1));
  }

  const hn::ScalableTag<T> d_{};
  const ChoosePath& path_;
  const std::int64_t states_;
  const std::int64_t padded_;
  T* const row_;
  T* const weight_;
  double* const sum_;
  const T worst_;
  bool plain_ = false;
};

std::uint32_t walk_path(const ChoosePath& path, std::uint32_t known, std::int64_t steps, const double* uniform,
                        std::uint32_t* chosen, std::uint32_t* known_there) {
  if (path.dtype == Dtype::float32) return PathWalk<float>(path).run(known, steps, uniform, chosen, known_there);
  return PathWalk<double>(path).run(known, steps, uniform, chosen, known_there);
}

}  // namespace plated::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plated::kernels {

HWY_EXPORT(walk_path);

std::uint32_t choose_path(const ChoosePath& path, std::uint32_t known, std::int64_t steps, const double* uniform,
                          std::uint32_t* chosen, std::uint32_t* known_there) noexcept {
  return HWY_DYNAMIC_DISPATCH(walk_path)(path, known, steps, uniform, chosen, known_there);
}

}  // namespace plated::kernels
#endif  // HWY_ONCE
