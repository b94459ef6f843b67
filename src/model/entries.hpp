// The numbers that factors may have.
#pragma once

#include "plated/model.hpp"

namespace plated::model {

/// Why a number cannot be an entry of a factor: NaN, infinite, or a weight below zero; null where it can.
[[nodiscard]] const char* refused_entry(double value, Space space);

}  // namespace plated::model
