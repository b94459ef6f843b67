// The boolean semiring: whether any assignment exists. Zero is false, everything else is true.
#pragma once

#include <cstdint>

namespace plated::semiring {

struct Boolean {
  static constexpr double zero() { return 0.0; }
  static constexpr double one() { return 1.0; }
  static constexpr double add(double a, double b) { return a != 0.0 || b != 0.0 ? 1.0 : 0.0; }
  static constexpr double multiply(double a, double b) { return a != 0.0 && b != 0.0 ? 1.0 : 0.0; }
  static constexpr double power(double x, std::int64_t n) { return n == 0 || x != 0.0 ? 1.0 : 0.0; }
};

}  // namespace plated::semiring
