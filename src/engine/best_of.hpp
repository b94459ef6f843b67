// The best of some numbers, several of them side by side.
#pragma once

#include <array>
#include <cstdint>

namespace plated::engine {

/// In as many lanes as any processor has, where comparisons would wait for each other. There is at least one number.
template <class T, class Better>
[[nodiscard]] T best_of(const T* numbers, std::int64_t count, const Better& better) {
  std::array<T, 16> best;
  best.fill(numbers[0]);
  constexpr auto lanes = static_cast<std::int64_t>(best.size());
  std::int64_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    for (std::int64_t j = 0; j < lanes; ++j) best[j] = better(numbers[k + j], best[j]);
  }
  for (; k < count; ++k) best[0] = better(numbers[k], best[0]);
  for (const T& other : best) best[0] = better(other, best[0]);
  return best[0];
}

}  // namespace plated::engine
