// One number of an index, made from any type of integer.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

namespace plated {

/// Lets `tensor.at({i, j})` take an int, a size_t or any other integer. What does not fit in 63 bits becomes the
/// largest that does, which is out of range everywhere.
struct Index {
  std::int64_t value = 0;

  Index() = default;
  template <std::integral T>
  constexpr Index(T number) : value(fitted(number)) {}  // NOLINT(google-explicit-constructor)

 private:
  template <std::integral T>
  static constexpr std::int64_t fitted(T number) {
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    if constexpr (sizeof(T) == sizeof(std::int64_t) && !std::signed_integral<T>) {
      if (number > static_cast<T>(largest)) return largest;
    }
    return static_cast<std::int64_t>(number);
  }
};

}  // namespace plated
