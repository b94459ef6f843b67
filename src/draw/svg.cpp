// Writes a picture from the back to the front: boxes, lines, nodes, words.
#include "draw/svg.hpp"

#include "draw/markup.hpp"
#include "draw/text.hpp"

namespace plated::draw {
namespace {

constexpr std::string_view shade = "#c9cdd3";
constexpr std::string_view light = "#f4f6fb";

/// A light ground behind a label that could not avoid a line.
std::string ground_of(const Label& label) {
  if (label.on_clear_ground) return "";
  const Rect& rect = label.rect;
  return "<rect class=\"ground\"" + extent({rect.left - 1, rect.top, rect.right + 1, rect.bottom}) +
         " rx=\"2\" fill=\"#ffffff\" fill-opacity=\"0.85\"/>\n";
}

std::string box_element(const Plate& plate, const Rect& rect, std::string_view colour) {
  return "<rect class=\"plate\"" + attribute("data-name", plate.name) + extent(rect) + " rx=\"9\"" +
         attribute("fill", colour) + " fill-opacity=\"0.05\"" + attribute("stroke", colour) +
         attribute("stroke-width", plate.marked ? 2 : 1.3) + (plate.is_chain ? " stroke-dasharray=\"9 4\"" : "") +
         "/>\n";
}

std::string_view class_of(Edge::Kind kind) {
  switch (kind) {
    case Edge::Kind::arrow:
      return "arrow";
    case Edge::Kind::link:
      return "link";
    case Edge::Kind::end:
      return "end";
    case Edge::Kind::plain:
      break;
  }
  return "edge";
}

std::string line_element(const Edge& edge, const Line& line, std::string_view colour) {
  std::string svg = "<path" + attribute("class", class_of(edge.kind)) + path_of(line) + " fill=\"none\"" +
                    attribute("stroke", colour) + attribute("stroke-width", edge.marked ? 2.4 : 1.2);
  if (edge.kind == Edge::Kind::link) svg += " stroke-dasharray=\"6 3\"";
  if (edge.kind == Edge::Kind::end) svg += " stroke-dasharray=\"1.5 3\"";
  return svg + "/>\n";
}

std::string ellipse(std::string_view css, const Node& node, const Rect& rect, double inset, std::string_view fill) {
  return "<ellipse" + attribute("class", css) + attribute("data-name", node.name) + attribute("cx", rect.x()) +
         attribute("cy", rect.y()) + attribute("rx", rect.width() / 2 - inset) +
         attribute("ry", rect.height() / 2 - inset) + attribute("fill", fill) +
         attribute("stroke", node.marked ? red : ink) + attribute("stroke-width", node.marked ? 2.4 : 1.2) +
         (node.is_end ? " stroke-dasharray=\"2 3\"" : "") + "/>\n";
}

std::string node_element(const Node& node, const Rect& rect) {
  std::string svg = "<g><title>" + escaped(node.tooltip) + "</title>\n";
  const std::string_view colour = node.marked ? red : ink;
  if (node.is_variable) {
    svg += ellipse("variable", node, rect, 0, node.observed ? shade : node.marked ? "#fbe3e6" : light);
    if (node.ringed) svg += ellipse("ring", node, rect, 3, "none");
    svg += text_at("name", rect.x(), rect.y() + name_font * 0.35, "middle", name_font, colour, node.label);
  } else {
    svg += "<rect class=\"factor\"" + attribute("data-name", node.name) + extent(rect) +
           attribute("fill", node.hollow ? "#ffffff" : colour) + attribute("stroke", colour) +
           attribute("stroke-width", node.hollow ? 1.8 : 1) + "/>\n";
  }
  return svg + "</g>\n";
}

std::string label_element(std::string_view css, const Label& label, std::string_view colour) {
  if (label.text.empty()) return "";
  return ground_of(label) +
         text_at(css, label.rect.x(), label.rect.bottom - 2, "middle", label_font, colour, label.text);
}

}  // namespace

std::string to_svg(const Scene& scene, const Layout& layout, const Picture& picture) {
  const auto colour_of_plate = [&](int plate) { return scene.plates[plate].marked ? red : plate_ink(plate); };
  const auto colour_of_edge = [&](const Edge& edge) {
    if (edge.marked) return red;
    return edge.kind == Edge::Kind::link ? colour_of_plate(edge.plate) : line_ink;
  };
  std::string svg;
  if (!scene.title.empty()) {
    svg += text_at("title", picture.title.at.x, picture.title.at.y, "start", title_font, ink, scene.title);
  }
  for (std::size_t b = 0; b < layout.boxes.size(); ++b) {
    const int plate = layout.boxes[b].plate;
    svg += box_element(scene.plates[plate], picture.boxes[b], colour_of_plate(plate));
  }
  // Marked lines last, so that they lie on top. Lines lead to the middles of nodes, which cover them; heads do not.
  for (const bool marked : {false, true}) {
    for (std::size_t e = 0; e < scene.edges.size(); ++e) {
      const Edge& edge = scene.edges[e];
      if (edge.marked == marked) svg += line_element(edge, picture.lines[e], colour_of_edge(edge));
    }
  }
  for (std::size_t e = 0; e < scene.edges.size(); ++e) {
    if (picture.heads[e]) svg += head_element(*picture.heads[e], colour_of_edge(scene.edges[e]));
  }
  for (std::size_t n = 0; n < scene.nodes.size(); ++n) svg += node_element(scene.nodes[n], picture.nodes[n]);
  for (std::size_t b = 0; b < layout.boxes.size(); ++b) {
    svg += label_element("plate-label", picture.box_labels[b], colour_of_plate(layout.boxes[b].plate));
  }
  for (std::size_t e = 0; e < scene.edges.size(); ++e) {
    svg += label_element("link-label", picture.edge_labels[e], colour_of_edge(scene.edges[e]));
  }
  for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
    svg += label_element("factor-label", picture.factor_labels[n], scene.nodes[n].marked ? red : ink);
  }
  for (const auto& [text, at] : picture.caption) {
    svg += text_at("caption", at.x, at.y, "start", label_font, line_ink, text);
  }
  return document(picture.width, picture.height, svg);
}

}  // namespace plated::draw
