// Checks that every picture must pass, for any graph; shared by tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "draw/text.hpp"
#include "unit/draw/read_svg.hpp"

namespace plated::test {

inline const std::vector<std::string>& line_classes() {
  static const std::vector<std::string> classes{"edge", "arrow", "link", "end"};
  return classes;
}

inline std::vector<Element> lines_of(const Document& document) {
  std::vector<Element> lines;
  for (const auto& css : line_classes()) {
    for (const auto& line : document.with_class(css)) lines.push_back(line);
  }
  return lines;
}

/// The shape whose middle a line begins or ends at.
inline const Shape* shape_at(const std::vector<Shape>& shapes, Spot spot) {
  for (const auto& shape : shapes) {
    if (std::hypot(shape.x - spot.x, shape.y - spot.y) < 0.5) return &shape;
  }
  return nullptr;
}

inline void expect_shapes_apart(const Document& document) {
  const auto shapes = shapes_of(document);
  for (std::size_t a = 0; a < shapes.size(); ++a) {
    for (std::size_t b = a + 1; b < shapes.size(); ++b) {
      const bool apart = std::abs(shapes[a].x - shapes[b].x) > shapes[a].half_width + shapes[b].half_width ||
                         std::abs(shapes[a].y - shapes[b].y) > shapes[a].half_height + shapes[b].half_height;
      EXPECT_TRUE(apart) << shapes[a].name << " lies on " << shapes[b].name;
    }
  }
}

/// How many lines run under a shape that they do not lead to.
inline int lines_under_shapes(const Document& document) {
  const auto shapes = shapes_of(document);
  int count = 0;
  for (const auto& line : lines_of(document)) {
    const auto points = walk(line["d"]);
    const Shape* from = shape_at(shapes, points.front());
    const Shape* to = shape_at(shapes, points.back());
    EXPECT_NE(from, nullptr);
    EXPECT_NE(to, nullptr);
    for (const auto& shape : shapes) {
      if (&shape == from || &shape == to) continue;
      count += std::any_of(points.begin(), points.end(), [&](Spot spot) { return covers(shape, spot); });
    }
  }
  return count;
}

/// Every head has its tip on the border of the node that its line leads to, and lies outside of it.
inline void expect_heads_on_borders(const Document& document) {
  const auto shapes = shapes_of(document);
  std::vector<Element> headed = document.with_class("arrow");
  for (const auto& link : document.with_class("link")) headed.push_back(link);
  const auto heads = document.with_class("head");
  ASSERT_EQ(heads.size(), headed.size());
  for (const auto& line : headed) {
    const Shape* to = shape_at(shapes, walk(line["d"]).back());
    ASSERT_NE(to, nullptr);
    const bool has_head = std::any_of(heads.begin(), heads.end(), [&](const Element& head) {
      const auto corners = path_spots(head["d"]);
      return std::abs(reach(*to, corners[0]) - 1) < 0.02 && reach(*to, corners[1]) > 1 && reach(*to, corners[2]) > 1;
    });
    EXPECT_TRUE(has_head) << "no head ends at " << to->name;
  }
}

/// The rectangle that a label's words take: left, top, right, bottom.
struct Words {
  double left = 0, top = 0, right = 0, bottom = 0;
};

inline Words words_of(const Element& label) {
  const double half = draw::text_width(label.text, label.number("font-size")) / 2;
  return {label.number("x") - half, label.number("y") - 10, label.number("x") + half, label.number("y") + 2};
}

/// Labels beside nodes, arcs and in the corners of boxes lie on nothing: no line, no node, no other label.
inline void expect_labels_clear(const Document& document) {
  const auto shapes = shapes_of(document);
  std::vector<Element> labels;
  for (const char* css : {"factor-label", "link-label", "plate-label"}) {
    for (const auto& label : document.with_class(css)) labels.push_back(label);
  }
  for (const auto& label : labels) {
    const Words words = words_of(label);
    for (const auto& line : lines_of(document)) {
      const auto points = walk(line["d"]);
      const bool under = std::any_of(points.begin(), points.end(), [&](Spot spot) {
        return words.left < spot.x && spot.x < words.right && words.top < spot.y && spot.y < words.bottom;
      });
      EXPECT_FALSE(under) << label.text << " lies on a line";
    }
    for (const auto& shape : shapes) {
      const bool apart = shape.x + shape.half_width <= words.left || words.right <= shape.x - shape.half_width ||
                         shape.y + shape.half_height <= words.top || words.bottom <= shape.y - shape.half_height;
      EXPECT_TRUE(apart) << label.text << " lies on " << shape.name;
    }
    for (const auto& other : labels) {
      if (&other == &label) continue;
      const Words there = words_of(other);
      const bool apart = there.right <= words.left || words.right <= there.left || there.bottom <= words.top ||
                         words.bottom <= there.top;
      EXPECT_TRUE(apart) << label.text << " lies on " << other.text;
    }
  }
}

}  // namespace plated::test
