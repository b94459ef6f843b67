// Dispatches from a semiring's run-time value to its struct.
#pragma once

#include <utility>

#include "plated/semiring.hpp"
#include "semiring/boolean.hpp"
#include "semiring/log.hpp"
#include "semiring/max_plus.hpp"
#include "semiring/max_product.hpp"
#include "semiring/min_plus.hpp"
#include "semiring/real.hpp"

namespace plated::semiring {

/// Calls `callable` with a value of the semiring's struct and returns what it returns:
///
///   const double zero = dispatch(which, [](auto ring) { return ring.zero(); });
template <class Callable>
constexpr decltype(auto) dispatch(Semiring which, Callable&& callable) {
  switch (which) {
    case Semiring::real:
      return std::forward<Callable>(callable)(Real{});
    case Semiring::max_plus:
      return std::forward<Callable>(callable)(MaxPlus{});
    case Semiring::min_plus:
      return std::forward<Callable>(callable)(MinPlus{});
    case Semiring::max_product:
      return std::forward<Callable>(callable)(MaxProduct{});
    case Semiring::boolean:
      return std::forward<Callable>(callable)(Boolean{});
    case Semiring::log:
      break;
  }
  return std::forward<Callable>(callable)(Log{});
}

}  // namespace plated::semiring
