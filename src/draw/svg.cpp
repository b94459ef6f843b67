// SVG without scripts or fonts of its own: colours and strokes stand on every element, so any viewer shows the same.
#include "draw/svg.hpp"

#include <array>
#include <cmath>
#include <string_view>

namespace plated::draw {
namespace {

constexpr std::string_view font = "Helvetica, Arial, 'DejaVu Sans', sans-serif";
constexpr std::string_view red = "#c8102e";
constexpr std::string_view ink = "#222222";
constexpr std::string_view line_ink = "#6b6b6b";
constexpr std::array<std::string_view, 7> plate_inks = {"#2f6f9f", "#8a5a00", "#3d7d3a", "#7a4a9c",
                                                        "#b0512a", "#1f7a7a", "#8c3b5e"};

/// One decimal: enough for pixels, and short.
std::string number(double value) {
  const long tenths = std::lround(value * 10);
  std::string text = tenths < 0 ? "-" : "";
  text += std::to_string(std::abs(tenths) / 10);
  if (tenths % 10 != 0) text.append(".").append(std::to_string(std::abs(tenths) % 10));
  return text;
}

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

/// A light ground behind a label that could not avoid a line.
std::string ground_of(const Label& label) {
  if (label.on_clear_ground) return "";
  return std::string("<rect") + attribute("class", "ground") + attribute("x", label.rect.left - 1) +
         attribute("y", label.rect.top) + attribute("width", label.rect.width() + 2) +
         attribute("height", label.rect.height()) + " rx=\"2\" fill=\"#ffffff\" fill-opacity=\"0.85\"/>\n";
}

std::string box_element(const Plate& plate, const Rect& rect, std::string_view colour) {
  return std::string("<rect") + attribute("class", "plate") + attribute("data-name", plate.name) +
         attribute("x", rect.left) + attribute("y", rect.top) + attribute("width", rect.width()) +
         attribute("height", rect.height()) + " rx=\"9\"" + attribute("fill", colour) + " fill-opacity=\"0.05\"" +
         attribute("stroke", colour) + attribute("stroke-width", plate.marked ? 2 : 1.3) + "/>\n";
}

std::string line_element(const Line& line, bool marked) {
  std::string path = "M";
  path.append(number(line.from.x)).append(" ").append(number(line.from.y));
  if (line.is_bent) path.append(" Q").append(number(line.control.x)).append(" ").append(number(line.control.y));
  path.append(line.is_bent ? " " : " L").append(number(line.to.x)).append(" ").append(number(line.to.y));
  return std::string("<path class=\"edge\"") + attribute("d", path) + " fill=\"none\"" +
         attribute("stroke", marked ? red : line_ink) + attribute("stroke-width", marked ? 2.4 : 1.2) + "/>\n";
}

std::string ellipse(std::string_view css, const Node& node, const Rect& rect, double inset, std::string_view fill) {
  return std::string("<ellipse") + attribute("class", css) + attribute("data-name", node.name) +
         attribute("cx", rect.x()) + attribute("cy", rect.y()) + attribute("rx", rect.width() / 2 - inset) +
         attribute("ry", rect.height() / 2 - inset) + attribute("fill", fill) +
         attribute("stroke", node.marked ? red : ink) + attribute("stroke-width", node.marked ? 2.4 : 1.2) + "/>\n";
}

std::string node_element(const Node& node, const Rect& rect) {
  std::string svg = std::string("<g><title>") + escaped(node.tooltip) + "</title>\n";
  const std::string_view colour = node.marked ? red : ink;
  if (node.is_variable) {
    svg += ellipse("variable", node, rect, 0, node.marked ? "#fbe3e6" : "#f4f6fb");
    if (node.ringed) svg += ellipse("ring", node, rect, 3, "none");
    svg += text_at("name", rect.x(), rect.y() + name_font * 0.35, "middle", name_font, colour, node.label);
  } else {
    svg += std::string("<rect") + attribute("class", "factor") + attribute("data-name", node.name) +
           attribute("x", rect.left) + attribute("y", rect.top) + attribute("width", rect.width()) +
           attribute("height", rect.height()) + attribute("fill", node.hollow ? "#ffffff" : colour) +
           attribute("stroke", colour) + attribute("stroke-width", node.hollow ? 1.8 : 1) + "/>\n";
  }
  return svg + "</g>\n";
}

}  // namespace

std::string to_svg(const Scene& scene, const Layout& layout, const Picture& picture) {
  const auto plate_ink = [&](int plate) {
    return scene.plates[plate].marked ? red : plate_inks[plate % plate_inks.size()];
  };
  const std::string width = number(std::ceil(picture.width)), height = number(std::ceil(picture.height));
  std::string svg = std::string("<svg xmlns=\"http://www.w3.org/2000/svg\"") + attribute("width", width) +
                    attribute("height", height) + attribute("viewBox", "0 0 " + width + " " + height) +
                    attribute("font-family", font) + ">\n";
  svg += std::string("<rect class=\"page\"") + attribute("width", width) + attribute("height", height) +
         " fill=\"#ffffff\"/>\n";
  if (!scene.title.empty()) {
    svg += text_at("title", picture.title.x, picture.title.y, "start", title_font, ink, scene.title);
  }
  for (std::size_t b = 0; b < layout.boxes.size(); ++b) {
    const int plate = layout.boxes[b].plate;
    svg += box_element(scene.plates[plate], picture.boxes[b], plate_ink(plate));
  }
  // Marked lines last, so that they lie on top.
  for (const bool marked : {false, true}) {
    for (std::size_t e = 0; e < scene.edges.size(); ++e) {
      if (scene.edges[e].marked == marked) svg += line_element(picture.lines[e], marked);
    }
  }
  for (std::size_t n = 0; n < scene.nodes.size(); ++n) svg += node_element(scene.nodes[n], picture.nodes[n]);
  for (std::size_t b = 0; b < layout.boxes.size(); ++b) {
    const Label& label = picture.box_labels[b];
    svg += ground_of(label);
    svg += text_at("plate-label", label.rect.right, label.rect.bottom - 2, "end", label_font,
                   plate_ink(layout.boxes[b].plate), label.text);
  }
  for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
    const Label& label = picture.factor_labels[n];
    if (label.text.empty()) continue;
    svg += ground_of(label);
    svg += text_at("factor-label", label.rect.x(), label.rect.bottom - 2, "middle", label_font,
                   scene.nodes[n].marked ? red : ink, label.text);
  }
  if (!scene.caption.empty()) {
    svg += text_at("caption", picture.caption.x, picture.caption.y, "start", label_font, line_ink, scene.caption);
  }
  return svg + "</svg>\n";
}

}  // namespace plated::draw
