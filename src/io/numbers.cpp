// Parses and formats numbers.
#include "io/numbers.hpp"

#include <charconv>
#include <limits>

namespace plated::io {
namespace {

/// What from_chars calls out of range, it does not tell which way: a negative exponent, or a zero before the point
/// without any, is far below 1.
bool is_tiny(std::string_view spelled) {
  const std::size_t exponent = spelled.find_first_of("eE");
  if (exponent != std::string_view::npos) return exponent + 1 < spelled.size() && spelled[exponent + 1] == '-';
  const std::size_t digit = spelled.find_first_not_of('-');
  return digit != std::string_view::npos && (spelled[digit] == '0' || spelled[digit] == '.');
}

}  // namespace

ReadNumber read_number(std::string_view text) {
  const char* begin = text.data();
  const char* const end = begin + text.size();
  // from_chars takes no plus sign, which printf's %+e writes.
  if (begin != end && *begin == '+') ++begin;
  if (begin != text.data() && begin != end && *begin == '-') return {};
  ReadNumber result;
  const auto [stop, error] = std::from_chars(begin, end, result.value);
  if (error == std::errc::invalid_argument) return {};
  result.bytes = static_cast<std::size_t>(stop - text.data());
  if (error == std::errc::result_out_of_range) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const bool tiny = is_tiny({begin, static_cast<std::size_t>(stop - begin)});
    result.value = tiny ? 0 : *begin == '-' ? -infinity : infinity;
  }
  return result;
}

void append_number(std::string& text, double value, Dtype dtype) {
  char buffer[32];
  const auto written = dtype == Dtype::float32
                           ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value))
                           : std::to_chars(buffer, buffer + sizeof buffer, value);
  text.append(buffer, written.ptr);
}

}  // namespace plated::io
