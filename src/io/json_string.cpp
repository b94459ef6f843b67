// Escapes strings.
#include "plated/json.hpp"

namespace plated {

std::string json_string(std::string_view text) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code == 0x7F) {
      out += "\\u00";
      out += digits[code >> 4];
      out += digits[code & 15U];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace plated
