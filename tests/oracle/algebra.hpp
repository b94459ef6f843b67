// The semirings in long double, implemented independently of the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "plated/semiring.hpp"

namespace plated::oracle {

constexpr long double infinity = std::numeric_limits<long double>::infinity();

inline bool adds_logarithms(Semiring s) {
  return s == Semiring::log || s == Semiring::max_plus || s == Semiring::min_plus;
}
inline long double zero(Semiring s) {
  return s == Semiring::min_plus ? infinity : adds_logarithms(s) ? -infinity : 0.0L;
}
inline long double one(Semiring s) { return adds_logarithms(s) ? 0.0L : 1.0L; }

inline long double multiply(Semiring s, long double a, long double b) {
  if (a == zero(s) || b == zero(s)) return zero(s);
  if (s == Semiring::boolean) return 1;
  return adds_logarithms(s) ? a + b : a * b;
}

inline long double add(Semiring s, long double a, long double b) {
  switch (s) {
    case Semiring::real:
      return a + b;
    case Semiring::min_plus:
      return std::min(a, b);
    case Semiring::log:
      if (a == -infinity || b == -infinity) return std::max(a, b);
      return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
    default:
      return std::max(a, b);  // max-plus, max-product; or, of 0 and 1
  }
}

}  // namespace plated::oracle
