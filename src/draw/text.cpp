// Estimates text widths and breaks lines.
#include "draw/text.hpp"

namespace plated::draw {

double text_width(const std::string& text, double font_size) {
  double characters = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // continues a UTF-8 code point
    const bool narrow = c == 'i' || c == 'j' || c == 'l' || c == 't' || c == 'f' || c == ' ' || c == '.' || c == ',';
    characters += narrow                                           ? 0.4
                  : c == 'm' || c == 'w' || (c >= 'A' && c <= 'Z') ? 0.85
                  : static_cast<unsigned char>(c) >= 0xE0          ? 1.0
                                                                   : 0.62;
  }
  return characters * font_size;
}

std::vector<std::string> in_lines(const std::vector<std::string>& notes, double font_size, double width) {
  std::vector<std::string> lines;
  for (const auto& note : notes) {
    if (!lines.empty()) {
      std::string longer = lines.back() + " · " + note;
      if (text_width(longer, font_size) <= width) {
        lines.back() = std::move(longer);
        continue;
      }
    }
    lines.push_back(note);
  }
  return lines;
}

std::string with_commas(std::int64_t count) {
  std::string text = std::to_string(count);
  const std::size_t first_digit = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first_digit + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

}  // namespace plated::draw
