// The characters of an equation: UTF-8 code points and their classes.
#pragma once

#include <cstddef>
#include <string_view>

namespace plated::graph {

/// A code point and the bytes it takes.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;
};

/// `bytes == 0`: the text is not UTF-8 at this place.
[[nodiscard]] CodePoint decode(std::string_view text, std::size_t position);

/// Code points in a text, for columns; a byte that is not UTF-8 counts as one.
[[nodiscard]] std::size_t count_code_points(std::string_view text);

[[nodiscard]] bool is_blank(char32_t c);
/// Characters with a meaning of their own in equations: they are never part of a name.
[[nodiscard]] bool is_reserved(char32_t c);
/// Characters of names longer than one character: letters, digits, `_`, and everything beyond ASCII.
[[nodiscard]] bool is_word(char32_t c);

}  // namespace plated::graph
