// Parses integers.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace plated::base {

/// The integer that the whole of a text spells, if it fits in 63 bits and a sign.
[[nodiscard]] inline std::optional<std::int64_t> whole_integer(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace plated::base
