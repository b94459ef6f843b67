// Reads back what draw_svg writes: elements with their attributes, and whether tags are balanced.
#pragma once

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "plated/draw.hpp"

namespace plated::test {

struct Element {
  std::string tag;
  std::map<std::string, std::string> attributes;
  std::string text;  ///< directly after the start tag, still escaped

  [[nodiscard]] std::string operator[](const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
  [[nodiscard]] double number(const std::string& key) const { return std::stod((*this)[key]); }
};

struct Document {
  std::vector<Element> elements;
  std::string error;  ///< why it is no well-formed XML; empty where it is

  [[nodiscard]] std::vector<Element> with_class(const std::string& name) const {
    std::vector<Element> found;
    for (const auto& element : elements) {
      if (element["class"] == name) found.push_back(element);
    }
    return found;
  }
};

/// Every & of a text must begin one of the five entities; < and > must not occur.
inline bool is_escaped(const std::string& text) {
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '<' || text[k] == '>') return false;
    if (text[k] != '&') continue;
    const std::string entity = text.substr(k + 1, text.find(';', k) - k - 1);
    if (entity != "amp" && entity != "lt" && entity != "gt" && entity != "quot" && entity != "apos") return false;
  }
  return true;
}

inline Document read_svg(const std::string& svg) {
  Document document;
  std::vector<std::string> open;
  const auto fail = [&](const std::string& why) {
    document.error = why;
    return document;
  };
  std::size_t at = 0;
  while ((at = svg.find('<', at)) != std::string::npos) {
    const bool closes = svg[at + 1] == '/';
    std::size_t end = at + (closes ? 2 : 1);
    const std::size_t name_start = end;
    while (end < svg.size() && std::isalpha(static_cast<unsigned char>(svg[end]))) ++end;
    const std::string tag = svg.substr(name_start, end - name_start);
    if (tag.empty()) return fail("a tag without a name");
    Element element{.tag = tag};
    while (end < svg.size() && svg[end] == ' ') {
      const std::size_t equals = svg.find("=\"", end);
      if (equals == std::string::npos) return fail("an attribute without a value in " + tag);
      const std::size_t quote = svg.find('"', equals + 2);
      if (quote == std::string::npos) return fail("an attribute without an end in " + tag);
      const std::string key = svg.substr(end + 1, equals - end - 1), value = svg.substr(equals + 2, quote - equals - 2);
      if (!is_escaped(value)) return fail("an unescaped attribute in " + tag);
      if (!element.attributes.emplace(key, value).second) return fail("an attribute twice in " + tag);
      end = quote + 1;
    }
    const bool empty = svg.compare(end, 2, "/>") == 0;
    end += empty ? 1 : 0;
    if (end >= svg.size() || svg[end] != '>') return fail("a tag without an end: " + tag);
    const std::size_t next = svg.find('<', end);
    element.text = svg.substr(end + 1, next == std::string::npos ? std::string::npos : next - end - 1);
    if (!is_escaped(element.text)) return fail("unescaped text after " + tag);
    if (closes) {
      if (open.empty() || open.back() != tag) return fail("closes what is not open: " + tag);
      open.pop_back();
    } else {
      if (open.empty() && !document.elements.empty()) return fail("a second root: " + tag);
      if (!empty) open.push_back(tag);
      document.elements.push_back(std::move(element));
    }
    at = end;
  }
  if (!open.empty()) return fail("never closed: " + open.back());
  return document;
}

/// Half extents and centre of a drawn variable or factor.
struct Shape {
  std::string name;
  bool is_variable = false;
  double x = 0, y = 0, half_width = 0, half_height = 0;
};

inline std::vector<Shape> shapes_of(const Document& document) {
  std::vector<Shape> shapes;
  for (const auto& e : document.with_class("variable")) {
    shapes.push_back({e["data-name"], true, e.number("cx"), e.number("cy"), e.number("rx"), e.number("ry")});
  }
  for (const auto& e : document.with_class("factor")) {
    const double half_width = e.number("width") / 2, half_height = e.number("height") / 2;
    shapes.push_back(
        {e["data-name"], false, e.number("x") + half_width, e.number("y") + half_height, half_width, half_height});
  }
  return shapes;
}

/// The shape of that name; variables and factors may share one.
inline Shape shape_named(const Document& document, const std::string& name, bool is_variable = true) {
  for (const auto& shape : shapes_of(document)) {
    if (shape.name == name && shape.is_variable == is_variable) return shape;
  }
  return {};
}

struct Spot {
  double x = 0, y = 0;
};

/// The numbers of a path, in pairs.
inline std::vector<Spot> path_spots(const std::string& d) {
  std::vector<double> numbers;
  for (const char* at = d.c_str(); *at != 0;) {
    char* end = nullptr;
    const double number = std::strtod(at, &end);
    if (end == at) {
      ++at;
    } else {
      numbers.push_back(number);
      at = end;
    }
  }
  std::vector<Spot> spots;
  for (std::size_t k = 0; k + 1 < numbers.size(); k += 2) spots.push_back({numbers[k], numbers[k + 1]});
  return spots;
}

/// Points along a path of straight lines or of quadratic pieces, at most some 2 pixels apart.
inline std::vector<Spot> walk(const std::string& d) {
  const auto spots = path_spots(d);
  const bool is_bent = d.find('Q') != std::string::npos;
  std::vector<Spot> points{spots[0]};
  const std::size_t stride = is_bent ? 2 : 1;
  for (std::size_t k = 0; k + stride < spots.size(); k += stride) {
    const Spot a = spots[k], b = spots[k + stride];
    const Spot c = is_bent ? spots[k + 1] : Spot{(a.x + b.x) / 2, (a.y + b.y) / 2};
    const double length = std::hypot(c.x - a.x, c.y - a.y) + std::hypot(b.x - c.x, b.y - c.y);
    const int steps = 1 + static_cast<int>(length / 2);
    for (int s = 1; s <= steps; ++s) {
      const double t = static_cast<double>(s) / steps, u = 1 - t;
      points.push_back({u * u * a.x + 2 * u * t * c.x + t * t * b.x, u * u * a.y + 2 * u * t * c.y + t * t * b.y});
    }
  }
  return points;
}

/// How far out a point lies, in units of the shape's half extents: 1 on an ellipse's border.
inline double reach(const Shape& shape, Spot spot) {
  return std::hypot((spot.x - shape.x) / shape.half_width, (spot.y - shape.y) / shape.half_height);
}

/// Whether a point lies in a shape: an ellipse or a square.
inline bool covers(const Shape& shape, Spot spot) {
  if (shape.is_variable) return reach(shape, spot) < 1;
  return std::abs(spot.x - shape.x) < shape.half_width && std::abs(spot.y - shape.y) < shape.half_height;
}

}  // namespace plated::test
