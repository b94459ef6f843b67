// Lays out the page: shapes of nodes, margins, title and caption.
#include <algorithm>

#include "draw/picture.hpp"
#include "draw/text.hpp"

namespace plated::draw {
namespace {

constexpr double margin = 14;
constexpr double factor_side = 11;
constexpr double circle_radius = 17;
constexpr double caption_leading = label_font + 4;
constexpr double narrowest_caption = 420;  // narrower pages are widened for their caption

}  // namespace

Pixel half_extent(const Node& node) {
  if (!node.is_variable) return {factor_side / 2, factor_side / 2};
  return {std::max(circle_radius, text_width(node.label, name_font) / 2 + 9), circle_radius};
}

Pixel half_extent_with_label(const Node& node) {
  const Pixel half = half_extent(node);
  if (node.is_variable || node.label.empty()) return half;
  return {std::max(half.x, text_width(node.label, label_font) / 2), half.y + label_font + 4};
}

Pixel frame(const Scene& scene, double width, double height, Picture& picture) {
  const auto lines = in_lines(scene.notes, label_font, std::max(width, narrowest_caption));
  double words = scene.title.empty() ? 0 : text_width(scene.title, title_font);
  for (const auto& line : lines) words = std::max(words, text_width(line, label_font));
  const double top = margin + (scene.title.empty() ? 0 : title_font + 14);
  const double left = margin + std::max(0.0, (words - width) / 2);
  const double below = lines.empty() ? 0 : 8 + caption_leading * static_cast<double>(lines.size());
  picture.width = std::max(width, words) + 2 * margin;
  picture.height = top + height + below + margin;
  picture.title = {scene.title, {margin, margin + title_font - 2}};
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const double up = caption_leading * static_cast<double>(lines.size() - 1 - k);
    picture.caption.push_back({lines[k], {margin, picture.height - margin - up}});
  }
  return {left, top};
}

}  // namespace plated::draw
