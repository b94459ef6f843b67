// Writes SVG without scripts or embedded fonts; every element has its own colours and strokes, for any viewer.
#include "draw/markup.hpp"

#include <array>
#include <cmath>

namespace plated::draw {
namespace {

constexpr std::string_view font = "Helvetica, Arial, 'DejaVu Sans', sans-serif";
constexpr std::array<std::string_view, 7> plate_inks = {"#2f6f9f", "#8a5a00", "#3d7d3a", "#7a4a9c",
                                                        "#b0512a", "#1f7a7a", "#8c3b5e"};

std::string number(double value) {
  const long tenths = std::lround(value * 10);
  std::string text = tenths < 0 ? "-" : "";
  text += std::to_string(std::abs(tenths) / 10);
  if (tenths % 10 != 0) text.append(".").append(std::to_string(std::abs(tenths) % 10));
  return text;
}

std::string pair_of(Pixel p) { return number(p.x) + " " + number(p.y); }

}  // namespace

std::string_view plate_ink(std::size_t k) { return plate_inks[k % plate_inks.size()]; }

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&apos;";
        break;
      // XML has no way to write control characters.
      default:
        safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

std::string attribute(std::string_view key, std::string_view value) {
  return std::string(" ").append(key).append("=\"").append(escaped(value)).append("\"");
}

std::string attribute(std::string_view key, double value) { return attribute(key, number(value)); }

std::string text_at(std::string_view css, double x, double y, std::string_view anchor, double size,
                    std::string_view fill, std::string_view text) {
  return std::string("<text") + attribute("class", css) + attribute("x", x) + attribute("y", y) +
         attribute("text-anchor", anchor) + attribute("font-size", size) + attribute("fill", fill) + ">" +
         escaped(text) + "</text>\n";
}

std::string extent(const Rect& rect) {
  return attribute("x", rect.left) + attribute("y", rect.top) + attribute("width", rect.width()) +
         attribute("height", rect.height());
}

std::string path_of(const Line& line) {
  std::string path = "M" + pair_of(line.from);
  if (line.via.empty()) {
    path += " L" + pair_of(line.to);
  } else {
    for (const auto& piece : line.pieces()) path += " Q" + pair_of(piece.control) + " " + pair_of(piece.to);
  }
  return attribute("d", path);
}

std::string head_element(const Head& head, std::string_view colour) {
  return std::string("<path class=\"head\"") +
         attribute("d", "M" + pair_of(head.tip) + " L" + pair_of(head.left) + " L" + pair_of(head.right) + " Z") +
         attribute("fill", colour) + "/>\n";
}

std::string document(double width, double height, std::string_view elements) {
  const std::string across = number(std::ceil(width)), down = number(std::ceil(height));
  return std::string("<svg xmlns=\"http://www.w3.org/2000/svg\"") + attribute("width", across) +
         attribute("height", down) + attribute("viewBox", "0 0 " + across + " " + down) +
         attribute("font-family", font) + ">\n<rect class=\"page\"" + attribute("width", across) +
         attribute("height", down) + " fill=\"#ffffff\"/>\n" + std::string(elements) + "</svg>\n";
}

}  // namespace plated::draw
