// Reads back what draw_svg writes: elements with their attributes, and whether tags are balanced.
#pragma once

#include <cctype>
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

}  // namespace plated::test
