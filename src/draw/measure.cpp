// Converts grid lines to pixels: gaps are as wide as the borders and labels in them need.
#include <algorithm>
#include <cmath>

#include "draw/picture.hpp"
#include "draw/text.hpp"

namespace plated::draw {
namespace {

constexpr double column_gap = 34;  // between the shapes of neighbouring columns
constexpr double row_gap = 26;
constexpr double border_pad = 14;   // between a shape and the first border
constexpr double border_step = 9;   // between borders that share a gap
constexpr double arc_room = 34;     // how far a link's arc and its gap to its label reach
constexpr double label_strip = 19;  // above a lower border, for the plate's label

/// The boxes from the outermost inwards: a box that holds another comes first. Among boxes of which neither holds the
/// other, the order of the near sides (left, top) is opposite to that of the far sides, so that they are seen to
/// overlap.
std::vector<int> from_outside(const std::vector<Box>& boxes, bool far) {
  const auto holds = [&](int a, int b) {
    for (std::size_t n = 0; n < boxes[a].inside.size(); ++n) {
      if (boxes[b].inside[n] && !boxes[a].inside[n]) return false;
    }
    return boxes[a].inside != boxes[b].inside || a < b;
  };
  std::vector<int> rest, order;
  for (int b = 0; b < static_cast<int>(boxes.size()); ++b) rest.push_back(b);
  if (far) std::reverse(rest.begin(), rest.end());
  while (!rest.empty()) {
    const auto outermost = std::find_if(rest.begin(), rest.end(), [&](int b) {
      return std::none_of(rest.begin(), rest.end(), [&](int other) { return other != b && holds(other, b); });
    });
    order.push_back(*outermost);
    rest.erase(outermost);
  }
  return order;
}

/// One axis of the page: half extents of its grid lines in, their centres and the borders' places out.
struct Axis {
  std::vector<double> half;
  std::vector<int> first, last;  ///< by box: the grid lines it spans
  double gap = 0, near_step = 0, far_step = 0;
  std::vector<double> centre, near, far;
  double length = 0;

  void resolve(const std::vector<int>& near_order, const std::vector<int>& far_order) {
    const int lines = static_cast<int>(half.size());
    centre.assign(lines, 0);
    near.assign(first.size(), 0);
    far.assign(first.size(), 0);
    double at = 0;
    for (int line = 0; line <= lines; ++line) {
      // The gap before this line: borders that end at the line before, inner ones first, then those that begin here.
      const double start = at;
      bool any = false;
      for (auto box = far_order.rbegin(); line > 0 && box != far_order.rend(); ++box) {
        if (last[*box] != line - 1) continue;
        at += any || far_step > border_step ? far_step : border_pad;
        any = true;
        far[*box] = at;
      }
      for (const int box : near_order) {
        if (line == lines || first[box] != line) continue;
        if (any) {
          at += near_step;
        } else if (line > 0) {
          at += border_pad;
        }
        any = true;
        near[box] = at;
      }
      if (line == lines) break;
      if (any) at += border_pad;
      if (line > 0) at = std::max(at, start + gap);
      at += half[line];
      centre[line] = at;
      at += half[line];
    }
    length = at;
  }
};

}  // namespace

void measure(const Scene& scene, const Layout& layout, Picture& picture) {
  Axis across{.gap = column_gap, .near_step = border_step, .far_step = border_step};
  Axis down{.gap = row_gap, .near_step = border_step, .far_step = label_strip};
  for (std::size_t n = 0; n < layout.places.size(); ++n) {
    const auto [column, row] = layout.places[n];
    const Pixel half = half_extent_with_label(scene.nodes[n]);
    if (static_cast<int>(across.half.size()) <= column) across.half.resize(column + 1);
    if (static_cast<int>(down.half.size()) <= row) down.half.resize(row + 1);
    across.half[column] = std::max(across.half[column], half.x);
    down.half[row] = std::max(down.half[row], half.y);
  }
  // Room for arcs and their labels beside or below the nodes that they join.
  for (const auto& edge : scene.edges) {
    if (edge.kind != Edge::Kind::link) continue;
    const Point a = layout.places[edge.from], b = layout.places[edge.to];
    double& half = a.column == b.column ? across.half[a.column] : down.half[a.row];
    if (a.column == b.column) half = std::max(half, arc_room + text_width(edge.label, label_font));
    if (a.row == b.row) half = std::max(half, arc_room + label_font);
  }
  for (const auto& box : layout.boxes) {
    const Span span = span_of(box.inside, layout.places);
    across.first.push_back(span.left);
    across.last.push_back(span.right);
    down.first.push_back(span.top);
    down.last.push_back(span.bottom);
  }
  const auto near_order = from_outside(layout.boxes, false), far_order = from_outside(layout.boxes, true);
  across.resolve(near_order, far_order);
  down.resolve(near_order, far_order);
  // A box is at least as wide as its label.
  for (std::size_t b = 0; b < layout.boxes.size(); ++b) {
    const Box& box = layout.boxes[b];
    const double wanted = text_width(scene.plates[box.plate].label + (box.is_part ? " (part)" : ""), label_font) + 16;
    const double missing = wanted - (across.far[b] - across.near[b]);
    if (missing <= 0) continue;
    across.half[across.last[b]] += missing / 2;
    across.resolve(near_order, far_order);
  }

  const auto [left, top] = frame(scene, across.length, down.length, picture);
  for (std::size_t n = 0; n < layout.places.size(); ++n) {
    const Pixel centre{left + across.centre[layout.places[n].column], top + down.centre[layout.places[n].row]};
    picture.nodes.push_back(around(centre, half_extent(scene.nodes[n])));
  }
  for (std::size_t b = 0; b < layout.boxes.size(); ++b) {
    picture.boxes.push_back({left + across.near[b], top + down.near[b], left + across.far[b], top + down.far[b]});
  }
}

}  // namespace plated::draw
