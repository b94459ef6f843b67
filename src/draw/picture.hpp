// A picture: the layout in pixels, with every line routed and every label placed.
#pragma once

#include <string>
#include <vector>

#include "draw/layout.hpp"
#include "draw/scene.hpp"

namespace plated::draw {

/// A rectangle in pixels, y downwards.
struct Rect {
  double left = 0, top = 0, right = 0, bottom = 0;
  [[nodiscard]] double width() const { return right - left; }
  [[nodiscard]] double height() const { return bottom - top; }
  [[nodiscard]] double x() const { return (left + right) / 2; }
  [[nodiscard]] double y() const { return (top + bottom) / 2; }
  [[nodiscard]] bool meets(const Rect& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

struct Pixel {
  double x = 0;
  double y = 0;
};

/// A line from `from` to `to`; bent towards `control` where a straight one would run over a node.
struct Line {
  Pixel from, to;
  Pixel control;
  bool is_bent = false;
  /// The points of the line, dense enough to test what it meets.
  [[nodiscard]] std::vector<Pixel> trace() const;
};

struct Label {
  std::string text;
  Rect rect;
  bool on_clear_ground = true;  ///< nothing else lies under it
};

struct Picture {
  double width = 0, height = 0;
  std::vector<Rect> nodes;           ///< by node
  std::vector<Rect> boxes;           ///< by box
  std::vector<Line> lines;           ///< by edge
  std::vector<Label> factor_labels;  ///< by node; empty text for variables
  std::vector<Label> box_labels;     ///< by box
  Pixel title;                       ///< where the title's text begins, on its baseline
  Pixel caption;
};

/// Font sizes in pixels.
inline constexpr double name_font = 14;
inline constexpr double label_font = 12;
inline constexpr double title_font = 15;

/// The width of a text in an ordinary sans-serif font, estimated generously: nobody can be asked.
[[nodiscard]] double text_width(const std::string& text, double font);

/// Half the width and height of a node's shape.
[[nodiscard]] Pixel half_extent(const Node& node);

/// Columns, rows and borders in pixels.
void measure(const Scene& scene, const Layout& layout, Picture& picture);
/// Straight lines where they run over no node, bent ones elsewhere.
void route(const Scene& scene, Picture& picture);
/// Names beside factors, then names in the corners of boxes, where they cover nothing.
void place_labels(const Scene& scene, const Layout& layout, Picture& picture);

}  // namespace plated::draw
