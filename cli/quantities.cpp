// Parses and formats amounts.
#include "quantities.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <map>

namespace plated::cli {

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  static const std::map<std::string_view, double> units = {
      {"", 1},       {"B", 1},      {"KB", 1e3},   {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"K", 0x1p10},
      {"M", 0x1p20}, {"G", 0x1p30}, {"T", 0x1p40}, {"KIB", 0x1p10}, {"MIB", 0x1p20}, {"GIB", 0x1p30}, {"TIB", 0x1p40},
  };
  double amount = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  std::string unit;
  for (const char c : text.substr(static_cast<std::size_t>(rest - text.data()))) {
    if (c != ' ') unit += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  const auto found = units.find(unit);
  if (found == units.end()) return std::nullopt;
  const double bytes = std::floor(amount * found->second);
  if (!(bytes >= 1 && bytes < 0x1p63)) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

std::string bytes(double amount) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", amount) : fmt::format("{:.3g} {}", amount, units[unit]);
}

std::string count(double amount) {
  if (!(std::abs(amount) < 1e10)) return fmt::format("{:.3g}", amount);
  std::string digits = fmt::format("{:.0f}", amount);
  for (std::size_t at = digits.size(); at > 3 && digits[at - 4] != '-';) digits.insert(at -= 3, ",");
  return digits;
}

std::string seconds(double amount) {
  if (amount >= 1) return fmt::format("{:.3g} s", amount);
  if (amount >= 1e-3) return fmt::format("{:.3g} ms", amount * 1e3);
  return fmt::format("{:.3g} µs", amount * 1e6);
}

std::string counted(std::int64_t amount, const std::string& noun) {
  return count(static_cast<double>(amount)) + " " + noun + (amount == 1 ? "" : "s");
}

}  // namespace plated::cli
