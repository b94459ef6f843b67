// From grid lines to pixels: gaps are as wide as the borders and labels in them need.
#include <algorithm>
#include <cmath>

#include "draw/picture.hpp"

namespace plated::draw {
namespace {

constexpr double margin = 14;      // around the page
constexpr double column_gap = 34;  // between the shapes of neighbouring columns
constexpr double row_gap = 26;
constexpr double border_pad = 14;   // between a shape and the first border
constexpr double border_step = 9;   // between borders that share a gap
constexpr double label_strip = 19;  // above a lower border, for the plate's label
constexpr double factor_side = 11;
constexpr double circle_radius = 17;

/// The boxes from the outermost inwards: whoever holds another comes first. Among boxes of which neither holds the
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

double text_width(const std::string& text, double font) {
  double characters = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // continues a UTF-8 code point
    const bool narrow = c == 'i' || c == 'j' || c == 'l' || c == 't' || c == 'f' || c == ' ' || c == '.' || c == ',';
    characters += narrow                                           ? 0.4
                  : c == 'm' || c == 'w' || (c >= 'A' && c <= 'Z') ? 0.85
                  : static_cast<unsigned char>(c) >= 0xE0          ? 1.0
                                                                   : 0.62;
  }
  return characters * font;
}

Pixel half_extent(const Node& node) {
  if (!node.is_variable) return {factor_side / 2, factor_side / 2};
  return {std::max(circle_radius, text_width(node.label, name_font) / 2 + 9), circle_radius};
}

void measure(const Scene& scene, const Layout& layout, Picture& picture) {
  Axis across{.gap = column_gap, .near_step = border_step, .far_step = border_step};
  Axis down{.gap = row_gap, .near_step = border_step, .far_step = label_strip};
  for (std::size_t n = 0; n < layout.places.size(); ++n) {
    const auto [column, row] = layout.places[n];
    Pixel half = half_extent(scene.nodes[n]);
    // Room for a factor's label above or below it.
    if (!scene.nodes[n].label.empty() && !scene.nodes[n].is_variable) {
      half = {std::max(half.x, text_width(scene.nodes[n].label, label_font) / 2), half.y + label_font + 4};
    }
    if (static_cast<int>(across.half.size()) <= column) across.half.resize(column + 1);
    if (static_cast<int>(down.half.size()) <= row) down.half.resize(row + 1);
    across.half[column] = std::max(across.half[column], half.x);
    down.half[row] = std::max(down.half[row], half.y);
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

  double words = scene.title.empty() ? 0 : text_width(scene.title, title_font);
  words = std::max(words, text_width(scene.caption, label_font));
  const double top = margin + (scene.title.empty() ? 0 : title_font + 14);
  const double left = margin + std::max(0.0, (words - across.length) / 2);
  picture.width = std::max(across.length, words) + 2 * margin;
  picture.height = top + down.length + margin + (scene.caption.empty() ? 0 : label_font + 12);
  picture.title = {margin, margin + title_font - 2};
  picture.caption = {margin, picture.height - margin};
  for (std::size_t n = 0; n < layout.places.size(); ++n) {
    const Pixel half = half_extent(scene.nodes[n]);
    const double x = left + across.centre[layout.places[n].column], y = top + down.centre[layout.places[n].row];
    picture.nodes.push_back({x - half.x, y - half.y, x + half.x, y + half.y});
  }
  for (std::size_t b = 0; b < layout.boxes.size(); ++b) {
    picture.boxes.push_back({left + across.near[b], top + down.near[b], left + across.far[b], top + down.far[b]});
  }
}

}  // namespace plated::draw
