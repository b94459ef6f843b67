// Routes lines between nodes: straight, or bent around what they would cross.
#include <algorithm>
#include <cmath>

#include "draw/avoid.hpp"
#include "draw/picture.hpp"

namespace plated::draw {
namespace {

/// The straight line between two points, drawn aside to one of its sides.
Line bent(Pixel from, Pixel to, double bend) {
  const double dx = to.x - from.x, dy = to.y - from.y;
  const double length = std::max(1.0, std::hypot(dx, dy));
  return {from, to, {{(from.x + to.x) / 2 - bend * dy / length, (from.y + to.y) / 2 + bend * dx / length}}};
}

Line routed(const Edge& edge, const Picture& picture) {
  const Rect& a = picture.nodes[edge.from];
  const Rect& b = picture.nodes[edge.to];
  Line best{.from = {a.x(), a.y()}, .to = {b.x(), b.y()}};
  int under = nodes_under(best, edge.from, edge.to, picture.nodes);
  for (double bend = 30; under > 0 && bend <= 180; bend += 30) {
    for (const double side : {bend, -bend}) {
      const Line line = bent(best.from, best.to, side);
      const int now = nodes_under(line, edge.from, edge.to, picture.nodes);
      if (now >= under) continue;
      under = now;
      best = line;
    }
  }
  return best;
}

/// How far a link's arc leaves the boxes of its chain, in points of its trace.
int points_outside(const Line& line, const Edge& edge, const Layout& layout, const Picture& picture) {
  int count = 0;
  for (const Pixel p : line.trace()) {
    bool inside = false;
    for (std::size_t b = 0; b < layout.boxes.size(); ++b) {
      inside |= layout.boxes[b].plate == edge.plate && picture.boxes[b].holds(p);
    }
    count += !inside;
  }
  return count;
}

/// A link is an arc, never straight: a factor or an arrow leads straight from one of its ends to the other.
Line arc_of(const Edge& edge, const Layout& layout, const Picture& picture, const DrawnLines& seen) {
  const Rect& a = picture.nodes[edge.from];
  const Rect& b = picture.nodes[edge.to];
  Line best;
  double least = 1e300;
  for (const double bend : {52.0, 64.0, 80.0, 100.0, 130.0, 160.0}) {
    for (const double side : {bend, -bend}) {
      Line line = bent({a.x(), a.y()}, {b.x(), b.y()}, side);
      const double cost = 40.0 * nodes_under(line, edge.from, edge.to, picture.nodes) +
                          2.0 * points_outside(line, edge, layout, picture) + 6.0 * seen.crossings(line, a, b) +
                          bend / 20;
      if (cost >= least) continue;
      least = cost;
      best = std::move(line);
    }
  }
  return best;
}

}  // namespace

void route(const Scene& scene, const Layout& layout, Picture& picture) {
  // Links after all others, as they have the choice.
  picture.lines.resize(scene.edges.size());
  DrawnLines seen;
  for (const bool is_link : {false, true}) {
    for (std::size_t e = 0; e < scene.edges.size(); ++e) {
      const Edge& edge = scene.edges[e];
      if ((edge.kind == Edge::Kind::link) != is_link) continue;
      picture.lines[e] = is_link ? arc_of(edge, layout, picture, seen) : routed(edge, picture);
      seen.add(picture.lines[e], picture.nodes[edge.from], picture.nodes[edge.to]);
    }
  }
  add_heads(scene, picture);
}

void add_heads(const Scene& scene, Picture& picture) {
  picture.heads.resize(scene.edges.size());
  for (std::size_t e = 0; e < scene.edges.size(); ++e) {
    if (scene.edges[e].has_head()) picture.heads[e] = head_at(picture.lines[e], picture.nodes[scene.edges[e].to]);
  }
}

}  // namespace plated::draw
