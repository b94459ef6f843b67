// Lays out the flow of each panel in layers, and writes the panels below each other.
#include "draw/plan_picture.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "draw/layered.hpp"
#include "draw/markup.hpp"
#include "draw/text.hpp"

namespace plated::draw {
namespace {

constexpr double margin = 14;
constexpr double leading = label_font + 4;
constexpr double pad = 8;  // between a box and its words

Pixel half_of(const FlowNode& node) {
  double width = text_width(node.heading, label_font);
  for (const auto& line : node.lines) width = std::max(width, text_width(line, label_font));
  const auto rows = static_cast<double>(node.lines.size() + (node.heading.empty() ? 0 : 1));
  return {width / 2 + pad, rows * leading / 2 + 5};
}

std::string box_of(const FlowNode& node, const Rect& rect) {
  using Kind = FlowNode::Kind;
  const std::string_view colour = node.colour >= 0 ? plate_ink(node.colour) : ink;
  std::string svg = "<g>";
  if (!node.tooltip.empty()) svg += "<title>" + escaped(node.tooltip) + "</title>";
  const std::string_view css = node.kind == Kind::factor ? "plan-factor"
                               : node.kind == Kind::gap  ? "plan-gap"
                               : node.kind == Kind::step ? "plan-step"
                                                         : "plan-output";
  svg += "\n<rect" + attribute("class", css) + extent(rect) + attribute("rx", node.kind == Kind::factor ? 2 : 7) +
         attribute("fill", node.kind == Kind::factor ? "#eceef2" : "#ffffff") +
         attribute("stroke", node.kind == Kind::factor ? line_ink : colour) +
         attribute("stroke-width", node.kind == Kind::output ? 2.2 : 1.2) +
         (node.kind == Kind::gap ? " stroke-dasharray=\"3 4\"" : "") + "/>\n";
  double y = rect.top + 5 + leading - 4;
  if (!node.heading.empty()) {
    svg += text_at("plan-heading", rect.left + pad, y, "start", label_font, colour, node.heading);
    y += leading;
  }
  for (const auto& line : node.lines) {
    svg += text_at("plan-line", rect.left + pad, y, "start", label_font, ink, line);
    y += leading;
  }
  return svg + "</g>\n";
}

/// Arrows enter a box side by side, in the order in which they come from the left.
std::vector<double> entries(const Flow& flow, const std::vector<Rect>& boxes) {
  std::vector<double> x(flow.arrows.size());
  std::map<int, std::vector<std::size_t>> into;
  for (std::size_t a = 0; a < flow.arrows.size(); ++a) into[flow.arrows[a].second].push_back(a);
  for (auto& [box, arrows] : into) {
    std::stable_sort(arrows.begin(), arrows.end(), [&](std::size_t a, std::size_t b) {
      return boxes[flow.arrows[a].first].x() < boxes[flow.arrows[b].first].x();
    });
    const auto count = static_cast<double>(arrows.size());
    const double step = std::min(26.0, (boxes[box].width() - 2 * pad) / std::max(1.0, count));
    for (std::size_t k = 0; k < arrows.size(); ++k)
      x[arrows[k]] = boxes[box].x() + step * (static_cast<double>(k) - (count - 1) / 2);
  }
  return x;
}

bool runs_over(const Line& line, const std::vector<Rect>& boxes) {
  const auto trace = line.trace();
  const double top = std::min(line.from.y, line.to.y), bottom = std::max(line.from.y, line.to.y);
  return std::any_of(boxes.begin(), boxes.end(), [&](const Rect& box) {
    if (box.bottom < top || bottom < box.top) return false;
    return std::any_of(trace.begin(), trace.end(), [&](Pixel p) { return box.holds(p); });
  });
}

struct Drawn {
  std::string svg;
  double width = 0, height = 0;
};

Drawn draw_flow(const Flow& flow, Pixel corner) {
  LayerGraph graph{.arrows = flow.arrows};
  for (const auto& node : flow.nodes) graph.half.push_back(half_of(node));
  const LayerLayout layout = lay_in_layers(graph, {.across = 16, .bend = 10, .down = 34});
  std::vector<Rect> boxes;
  std::map<double, double> band;  // by the y of a layer: half its height
  for (std::size_t n = 0; n < flow.nodes.size(); ++n) {
    boxes.push_back(around({corner.x + layout.centre[n].x, corner.y + layout.centre[n].y}, graph.half[n]));
    double& half = band[layout.centre[n].y];
    half = std::max(half, graph.half[n].y);
  }
  Drawn drawn{.width = layout.width, .height = layout.height};
  const auto entry = entries(flow, boxes);
  std::string heads;
  for (std::size_t a = 0; a < flow.arrows.size(); ++a) {
    const auto [from, to] = flow.arrows[a];
    const auto edge_of_band = [&](int node, double sign) {
      return corner.y + layout.centre[node].y + sign * (band[layout.centre[node].y] + 8);
    };
    Line line{.from = {boxes[from].x(), boxes[from].bottom}, .to = {entry[a], boxes[to].top}};
    line.via.push_back({line.from.x, edge_of_band(from, 1)});
    for (const Pixel at : layout.via[a]) line.via.push_back({corner.x + at.x, corner.y + at.y});
    line.via.push_back({line.to.x, edge_of_band(to, -1)});
    // Smooth where nothing is in the way; a line with corners keeps to the gaps between layers.
    if (runs_over(line, boxes)) line = cornered(line);
    drawn.svg += "<path class=\"flow\"" + path_of(line) + " fill=\"none\"" + attribute("stroke", line_ink) +
                 attribute("stroke-width", 1.2) + "/>\n";
    heads += head_element({line.to, {line.to.x - 3.6, line.to.y - 9}, {line.to.x + 3.6, line.to.y - 9}}, line_ink);
  }
  drawn.svg += heads;
  for (std::size_t n = 0; n < flow.nodes.size(); ++n) drawn.svg += box_of(flow.nodes[n], boxes[n]);
  return drawn;
}

}  // namespace

std::string plan_svg(const std::vector<PlanPanel>& panels, const DrawOptions& options) {
  std::string svg;
  double width = 0, y = margin;
  const auto write = [&](std::string_view css, double height, std::string_view colour, const std::string& text) {
    y += height;
    svg += text_at(css, margin, y, "start", height, colour, text);
    y += 5;
    width = std::max(width, text_width(text, height));
  };
  if (!options.title.empty()) {
    write("title", title_font, ink, options.title);
    y += 8;
  }
  for (const auto& panel : panels) {
    if (!panel.heading.empty()) write("panel-heading", name_font, ink, panel.heading);
    for (const auto& remark : panel.remarks) write("panel-remark", label_font, line_ink, remark);
    y += 8;
    const Drawn drawn = draw_flow(flow_of(*panel.schedule, options, panel.names), {margin, y});
    svg += drawn.svg;
    width = std::max(width, drawn.width);
    y += drawn.height + 22;
  }
  if (options.caption) {
    std::vector<std::string> notes{"boxes: steps, from top to bottom"};
    notes.push_back("grey: factors");
    notes.push_back("thick border: an output");
    notes.push_back("SumProduct{v}: multiply, and sum over v");
    notes.push_back("Product{i}: multiply over the slices of i");
    notes.push_back("= m[dims]: the result and its size");
    for (const auto& line : in_lines(notes, label_font, std::max(width, 420.0)))
      write("caption", label_font, line_ink, line);
  }
  return document(width + 2 * margin, y + margin - 5, svg);
}

}  // namespace plated::draw
