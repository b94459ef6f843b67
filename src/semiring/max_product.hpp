// The max-product semiring: the largest product of weights that are not negative.
#pragma once

#include <cmath>
#include <cstdint>

namespace plated::semiring {

struct MaxProduct {
  static constexpr double zero() { return 0.0; }
  static constexpr double one() { return 1.0; }
  static constexpr double add(double a, double b) { return a < b ? b : a; }
  static constexpr double multiply(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b; }
  static double power(double x, std::int64_t n) { return n == 0 ? 1.0 : std::pow(x, static_cast<double>(n)); }
};

}  // namespace plated::semiring
