// Decodes UTF-8 and classifies the characters of an equation.
#include "graph/characters.hpp"

namespace plated::graph {

CodePoint decode(std::string_view text, std::size_t position) {
  const auto byte = [&](std::size_t k) -> unsigned {
    return position + k < text.size() ? static_cast<unsigned char>(text[position + k]) : 0U;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t length = 0;
  if (lead >= 0xC2 && lead < 0xE0) length = 2;
  if (lead >= 0xE0 && lead < 0xF0) length = 3;
  if (lead >= 0xF0 && lead < 0xF5) length = 4;
  if (length == 0) return {};
  char32_t value = lead & (0x7FU >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xC0U) != 0x80U) return {};
    value = (value << 6) | (byte(k) & 0x3FU);
  }
  // Longer than needed, a surrogate, or beyond Unicode: two spellings of one name must not exist.
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  if (overlong || (value >= 0xD800 && value < 0xE000) || value > 0x10FFFF) return {};
  return {value, length};
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    const std::size_t bytes = decode(text, at).bytes;
    at += bytes == 0 ? 1 : bytes;
  }
  return count;
}

bool is_blank(char32_t c) {
  // Beyond ASCII: the spaces that a paste from a document brings along.
  return c == U' ' || (c >= U'\t' && c <= U'\r') || c == 0xA0 || (c >= 0x2000 && c <= 0x200B) || c == 0x202F ||
         c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

bool is_reserved(char32_t c) {
  switch (c) {
    case U',':
    case U'-':
    case U'>':
    case U'(':
    case U')':
    case U'[':
    case U']':
    case U'^':
    case U'$':
      return true;
    default:
      return c < 0x20 || c == 0x7F;
  }
}

bool is_word(char32_t c) {
  return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || (c >= U'0' && c <= U'9') || c == U'_' ||
         (c >= 0x80 && !is_blank(c));
}

}  // namespace plated::graph
