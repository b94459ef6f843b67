// Parses and formats numbers at the speed of from_chars, exactly in both directions.
#pragma once

#include <cstdint>
#include <optional>
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

/// The integer that the whole of a text spells, if it fits in 63 bits and a sign.
[[nodiscard]] std::optional<std::int64_t> whole_integer(std::string_view text);

/// Why a number cannot be an entry of a factor: NaN, infinite, or a weight below zero; null where it can.
[[nodiscard]] const char* refused_entry(double value, bool log_space);

/// Appends the shortest spelling that reads back as the same number of that type.
void append_number(std::string& text, double value, Dtype dtype = Dtype::float64);

}  // namespace plated::io
