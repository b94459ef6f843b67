// The building blocks of SVG text: escaped attributes, numbers, words and shapes.
#pragma once

#include <string>
#include <string_view>

#include "draw/geometry.hpp"

namespace plated::draw {

inline constexpr std::string_view ink = "#222222";
inline constexpr std::string_view line_ink = "#6b6b6b";
inline constexpr std::string_view red = "#c8102e";

/// The colour of the k-th plate or set of plates.
[[nodiscard]] std::string_view plate_ink(std::size_t k);

[[nodiscard]] std::string escaped(std::string_view text);
[[nodiscard]] std::string attribute(std::string_view key, std::string_view value);
/// One decimal: enough for pixels, and short.
[[nodiscard]] std::string attribute(std::string_view key, double value);

/// Words on a baseline that begins, ends or has its middle at x, as `anchor` says.
[[nodiscard]] std::string text_at(std::string_view css, double x, double y, std::string_view anchor, double size,
                                  std::string_view fill, std::string_view text);
/// ` x="…" y="…" width="…" height="…"`.
[[nodiscard]] std::string extent(const Rect& rect);
/// ` d="…"`: a line as a path.
[[nodiscard]] std::string path_of(const Line& line);
[[nodiscard]] std::string head_element(const Head& head, std::string_view colour);

/// A document with a white page of that size around its elements.
[[nodiscard]] std::string document(double width, double height, std::string_view elements);

}  // namespace plated::draw
