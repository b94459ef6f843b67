// Refuses NaN, infinities and negative weights.
#include "model/entries.hpp"

#include <cmath>
#include <limits>

namespace plated::model {

const char* refused_entry(double value, Space space) {
  if (std::isnan(value)) return "is not a number";
  if (space == Space::log) return value == std::numeric_limits<double>::infinity() ? "is infinite" : nullptr;
  if (std::isinf(value)) return "is infinite";
  return value < 0 ? "is below zero, and weights are not" : nullptr;
}

}  // namespace plated::model
