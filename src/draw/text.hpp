// Text in pictures: font sizes, widths and line breaks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plated::draw {

/// Font sizes in pixels.
inline constexpr double name_font = 14;
inline constexpr double label_font = 12;
inline constexpr double title_font = 15;

/// The width of a text in an ordinary sans-serif font, estimated generously, since the viewer's font is unknown.
[[nodiscard]] double text_width(const std::string& text, double font_size);

/// Notes joined by dots into lines of at most `width` pixels; a longer note has a line of its own.
[[nodiscard]] std::vector<std::string> in_lines(const std::vector<std::string>& notes, double font_size, double width);

/// A count with thousands apart: 1,024.
[[nodiscard]] std::string with_commas(std::int64_t count);

}  // namespace plated::draw
