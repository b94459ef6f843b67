// Parses and formats numbers at the speed of from_chars, exactly in both directions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "plated/tensor.hpp"

namespace plated::io {

/// A number that the beginning of a text spells; `bytes` is 0 where there is none. Beyond the largest double it is an
/// infinity, below the smallest it is 0.
struct ReadNumber {
  double value = 0;
  std::size_t bytes = 0;
};
[[nodiscard]] ReadNumber read_number(std::string_view text);

/// Appends the shortest spelling that reads back as the same number of that type.
void append_number(std::string& text, double value, Dtype dtype = Dtype::float64);

}  // namespace plated::io
