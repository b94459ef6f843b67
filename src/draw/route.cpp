// Lines between nodes: straight, or bent around what would lie under them.
#include <cmath>

#include "draw/picture.hpp"

namespace plated::draw {
namespace {

constexpr double clearance = 4;

int nodes_under(const Line& line, int from, int to, const std::vector<Rect>& nodes) {
  int count = 0;
  const auto trace = line.trace();
  for (int n = 0; n < static_cast<int>(nodes.size()); ++n) {
    if (n == from || n == to) continue;
    const Rect& node = nodes[n];
    for (const auto& [x, y] : trace) {
      const double dx = std::abs(x - node.x()) / (node.width() / 2 + clearance);
      const double dy = std::abs(y - node.y()) / (node.height() / 2 + clearance);
      if (dx * dx + dy * dy >= 1) continue;
      ++count;
      break;
    }
  }
  return count;
}

}  // namespace

std::vector<Pixel> Line::trace() const {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const int steps = 1 + static_cast<int>(length / 4);
  std::vector<Pixel> points;
  for (int k = 0; k <= steps; ++k) {
    const double t = double(k) / steps;
    const Pixel middle = is_bent ? control : Pixel{(from.x + to.x) / 2, (from.y + to.y) / 2};
    const double a = (1 - t) * (1 - t), b = 2 * t * (1 - t), c = t * t;
    points.push_back({a * from.x + b * middle.x + c * to.x, a * from.y + b * middle.y + c * to.y});
  }
  return points;
}

void route(const Scene& scene, Picture& picture) {
  for (const auto& edge : scene.edges) {
    const Rect& a = picture.nodes[edge.variable];
    const Rect& b = picture.nodes[edge.factor];
    Line best{.from = {a.x(), a.y()}, .to = {b.x(), b.y()}};
    int under = nodes_under(best, edge.variable, edge.factor, picture.nodes);
    const double dx = best.to.x - best.from.x, dy = best.to.y - best.from.y;
    const double length = std::hypot(dx, dy);
    for (double bend = 30; under > 0 && bend <= 150; bend += 30) {
      for (const double side : {1.0, -1.0}) {
        Line bent = best;
        bent.is_bent = true;
        bent.control = {(a.x() + b.x()) / 2 - side * bend * dy / length,
                        (a.y() + b.y()) / 2 + side * bend * dx / length};
        const int now = nodes_under(bent, edge.variable, edge.factor, picture.nodes);
        if (now >= under) continue;
        under = now;
        best = bent;
      }
    }
    picture.lines.push_back(best);
  }
}

}  // namespace plated::draw
