// The real semiring: sums and products of weights.
#pragma once

#include <cmath>
#include <cstdint>

namespace plated::semiring {

struct Real {
  static constexpr double zero() { return 0.0; }
  static constexpr double one() { return 1.0; }
  static constexpr double add(double a, double b) { return a + b; }
  // Zero annihilates even infinity: an impossible event stays impossible whatever its weight.
  static constexpr double multiply(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }
  // The sign apart: beyond 2^53 a count converted to double loses its parity.
  static double power(double x, std::int64_t n) {
    if (n == 0) return 1.0;
    const double magnitude = std::pow(std::abs(x), static_cast<double>(n));
    return x < 0.0 && n % 2 != 0 ? -magnitude : magnitude;
  }
};

}  // namespace plated::semiring
