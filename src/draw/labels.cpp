// Places labels: each takes the first of its candidate places that covers the least.
#include <algorithm>
#include <cmath>

#include "draw/picture.hpp"
#include "draw/text.hpp"

namespace plated::draw {
namespace {

/// Everything that a label should not lie on, asked for by rectangle.
class Ground {
 public:
  explicit Ground(const Picture& picture) : picture_(picture) {
    for (const auto& head : picture.heads) {
      if (head) heads_.push_back(around(head->tip, {10, 10}));
    }
    for (const auto& line : picture.lines) {
      traces_.push_back(line.trace());
      Rect around{line.from.x, line.from.y, line.from.x, line.from.y};
      for (const auto& [x, y] : traces_.back()) {
        around = {std::min(around.left, x), std::min(around.top, y), std::max(around.right, x),
                  std::max(around.bottom, y)};
      }
      around_.push_back(around);
    }
  }

  /// How much lies in a rectangle; labels and shapes count more than lines and borders.
  double under(const Rect& rect) const {
    double weight = 0;
    for (const auto& node : picture_.nodes) weight += node.meets(rect) ? 10 : 0;
    for (const auto& label : taken_) weight += label.meets(rect) ? 10 : 0;
    for (const auto& head : heads_) weight += head.meets(rect) ? 1 : 0;
    for (std::size_t k = 0; k < traces_.size(); ++k) {
      const Rect wide{around_[k].left - 1, around_[k].top - 1, around_[k].right + 1, around_[k].bottom + 1};
      if (!wide.meets(rect)) continue;
      weight += std::any_of(traces_[k].begin(), traces_[k].end(), [&](Pixel p) {
        return rect.left - 2 < p.x && p.x < rect.right + 2 && rect.top - 2 < p.y && p.y < rect.bottom + 2;
      });
    }
    for (const auto& box : picture_.boxes) {
      const bool inside =
          box.left < rect.left && rect.right < box.right && box.top < rect.top && rect.bottom < box.bottom;
      if (!inside && box.meets(rect)) weight += 3;
    }
    if (rect.left < 2 || rect.top < 2 || rect.right > picture_.width - 2 || rect.bottom > picture_.height - 2)
      weight += 20;
    return weight;
  }

  void take(const Rect& rect) { taken_.push_back(rect); }

 private:
  const Picture& picture_;
  std::vector<std::vector<Pixel>> traces_;
  std::vector<Rect> around_;
  std::vector<Rect> heads_;
  std::vector<Rect> taken_;
};

Label best_of(const std::string& text, const std::vector<Rect>& candidates, Ground& ground) {
  Label best{.text = text};
  double least = 1e300;
  for (const auto& rect : candidates) {
    const double under = ground.under(rect);
    if (under >= least) continue;
    least = under;
    best.rect = rect;
    if (under == 0) break;
  }
  best.on_clear_ground = least == 0;
  ground.take(best.rect);
  return best;
}

std::vector<Rect> beside(const Rect& factor, double width) {
  constexpr double gap = 3, height = label_font;
  std::vector<Rect> places;
  const auto add = [&](double x, double y) {
    places.push_back({x - width / 2, y - height / 2, x + width / 2, y + height / 2});
  };
  const double up = factor.top - gap - height / 2, below = factor.bottom + gap + height / 2;
  const double right = factor.right + gap + 1 + width / 2, left = factor.left - gap - 1 - width / 2;
  add(factor.x(), up);
  add(factor.x(), below);
  add(right, factor.y());
  add(left, factor.y());
  for (const double y : {up + 4, below - 4}) {
    for (const double x : {right, left}) add(x, y);
  }
  // Half-way, for a line that leaves the factor straight up or down.
  for (const double y : {up, below}) {
    for (const double x : {factor.x() + width / 2 + 3, factor.x() - width / 2 - 3}) add(x, y);
  }
  // Farther and farther off, as long as it is seen whose name it is.
  for (const double more : {5.0, 10.0, 16.0}) {
    for (const double dx : {0.0, -0.5, 0.5, -0.25, 0.25, -0.75, 0.75}) {
      add(factor.x() + dx * (width + factor.width()), up - more);
      add(factor.x() + dx * (width + factor.width()), below + more);
    }
    for (const double dy : {0.0, -6.0, 6.0}) {
      add(right + more, factor.y() + dy);
      add(left - more, factor.y() + dy);
    }
  }
  return places;
}

std::vector<Rect> along_lower_border(const Rect& box, double width) {
  std::vector<Rect> places;
  const double bottom = box.bottom - 4, top = bottom - label_font;
  const double room = box.width() - width - 12;
  const int steps = std::max(0, static_cast<int>(room / 6));
  for (int k = 0; k <= steps; ++k) {
    const double right = box.right - 6 - (steps > 0 ? room * k / steps : 0);
    places.push_back({right - width, top, right, bottom});
  }
  return places;
}

/// Places beside the middle of an arc, and a little before and behind it.
std::vector<Rect> along(const Line& line, double width) {
  constexpr double gap = 3;
  std::vector<Rect> places;
  const auto trace = line.trace();
  for (const double share : {0.5, 0.4, 0.6, 0.3, 0.7}) {
    const auto at = static_cast<std::size_t>(share * static_cast<double>(trace.size() - 1));
    const Pixel here = trace[at], ahead = trace[std::min(at + 1, trace.size() - 1)];
    const double dx = ahead.x - here.x, dy = ahead.y - here.y, length = std::max(1e-9, std::hypot(dx, dy));
    // The normal, and how far the middle of the words must be out for their corner to clear the line.
    const Pixel normal{-dy / length, dx / length};
    const double out = gap + std::abs(normal.x) * width / 2 + std::abs(normal.y) * label_font / 2;
    for (const double side : {1.0, -1.0}) {
      for (const double more : {0.0, 5.0, 10.0}) {
        const Pixel centre{here.x + side * (out + more) * normal.x, here.y + side * (out + more) * normal.y};
        places.push_back(around(centre, {width / 2, label_font / 2}));
      }
    }
  }
  return places;
}

}  // namespace

void place_labels(const Scene& scene, const Layout& layout, Picture& picture) {
  Ground ground(picture);
  // Boxes first: their labels have one strip each, a factor's name has places all around.
  for (std::size_t b = 0; b < layout.boxes.size(); ++b) {
    const Box& box = layout.boxes[b];
    const std::string text = scene.plates[box.plate].label + (box.is_part ? " (part)" : "");
    const auto places = along_lower_border(picture.boxes[b], text_width(text, label_font));
    picture.box_labels.push_back(best_of(text, places, ground));
  }
  picture.edge_labels.resize(scene.edges.size());
  for (std::size_t e = 0; e < scene.edges.size(); ++e) {
    const std::string& text = scene.edges[e].label;
    if (text.empty()) continue;
    picture.edge_labels[e] = best_of(text, along(picture.lines[e], text_width(text, label_font)), ground);
  }
  picture.factor_labels.resize(scene.nodes.size());
  for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
    const Node& node = scene.nodes[n];
    if (node.is_variable || node.label.empty()) continue;
    const auto places = beside(picture.nodes[n], text_width(node.label, label_font));
    picture.factor_labels[n] = best_of(node.label, places, ground);
  }
}

}  // namespace plated::draw
