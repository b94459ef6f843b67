// The min-plus semiring: the least total cost.
#pragma once

#include <cstdint>
#include <limits>

namespace plated::semiring {

struct MinPlus {
  static constexpr double zero() { return std::numeric_limits<double>::infinity(); }
  static constexpr double one() { return 0.0; }
  static constexpr double add(double a, double b) { return b < a ? b : a; }
  static constexpr double multiply(double a, double b) { return a == zero() || b == zero() ? zero() : a + b; }
  static constexpr double power(double x, std::int64_t n) { return n == 0 ? one() : x * static_cast<double>(n); }
};

}  // namespace plated::semiring
