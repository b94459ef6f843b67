// The log semiring: weights as natural logarithms, so that long products do not underflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace plated::semiring {

struct Log {
  static constexpr double zero() { return -std::numeric_limits<double>::infinity(); }
  static constexpr double one() { return 0.0; }
  // Zero returns early: the shift would compute (-inf) - (-inf).
  static double add(double a, double b) {
    const double low = std::min(a, b);
    const double high = std::max(a, b);
    return low == zero() ? high : high + std::log1p(std::exp(low - high));
  }
  // Zero annihilates: -inf + inf would be NaN.
  static constexpr double multiply(double a, double b) { return a == zero() || b == zero() ? zero() : a + b; }
  // The empty product is one even of zero: -inf · 0 would be NaN.
  static constexpr double power(double x, std::int64_t n) { return n == 0 ? one() : x * static_cast<double>(n); }
};

}  // namespace plated::semiring
