// The semirings a plan can run in.
#pragma once

#include <cstdint>
#include <string_view>

namespace plated {

/// The algebra of a run: what "sum" and "product" mean.
enum class Semiring : std::uint8_t {
  real,         ///< (+, ×)
  log,          ///< (logsumexp, +): entries are natural logarithms, −inf is zero
  max_plus,     ///< (max, +): zero is −inf
  min_plus,     ///< (min, +): zero is +inf
  max_product,  ///< (max, ×) on entries ≥ 0
  boolean,      ///< (or, and): 0 is false, anything else is true; results are 0 or 1
};

/// "real", "log", "max_plus", "min_plus", "max_product", "boolean".
[[nodiscard]] std::string_view name(Semiring semiring);

/// The semiring of that name. Throws UnknownNameError, listing the valid names.
[[nodiscard]] Semiring semiring_named(std::string_view name);

}  // namespace plated
