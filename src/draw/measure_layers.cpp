// Converts layered layouts to pixels, with lines that keep clear of the nodes they pass.
#include <algorithm>
#include <cmath>

#include "draw/avoid.hpp"
#include "draw/layered.hpp"
#include "draw/picture.hpp"

namespace plated::draw {
namespace {

constexpr std::size_t most_compared = 500;  // arrows; beyond, each with each takes too long

/// Leaves and enters the nodes upright, in case a slanted line would run over their neighbours.
Line upright(const Line& line, const Rect& from, const Rect& to) {
  const double sign = line.to.y > line.from.y ? 1 : -1;
  Line result = line;
  result.via.insert(result.via.begin(), {line.from.x, line.from.y + sign * (from.height() / 2 + 4)});
  result.via.push_back({line.to.x, line.to.y - sign * (to.height() / 2 + 12)});
  return result;
}

/// The lines that an arrow may take, the plainest first.
std::vector<Line> choices(const Line& straight, const std::vector<Pixel>& via, const Rect& from, const Rect& to) {
  std::vector<Line> list{straight};
  std::vector<Pixel> middles;  // of the layers it passes: `via` has a point above and one below each
  for (std::size_t k = 0; k + 1 < via.size(); k += 2) middles.push_back({via[k].x, (via[k].y + via[k + 1].y) / 2});
  for (const Pixel middle : middles) list.push_back({straight.from, straight.to, {middle}});
  list.push_back(upright(straight, from, to));
  if (!middles.empty()) {
    list.push_back({straight.from, straight.to, middles});
    list.push_back(upright(list.back(), from, to));
  }
  list.push_back({straight.from, straight.to, via});
  list.push_back(upright(list.back(), from, to));
  return list;
}

}  // namespace

bool suits_layers(const Scene& scene) {
  const auto is_arrow = [](const Edge& edge) { return edge.kind == Edge::Kind::arrow; };
  const auto is_plated = [](const Node& node) { return !node.plates.empty(); };
  return std::any_of(scene.edges.begin(), scene.edges.end(), is_arrow) &&
         std::none_of(scene.nodes.begin(), scene.nodes.end(), is_plated);
}

void measure_in_layers(const Scene& scene, Picture& picture) {
  LayerGraph graph;
  for (const auto& node : scene.nodes) graph.half.push_back(half_extent_with_label(node));
  for (const auto& edge : scene.edges) graph.arrows.push_back({edge.from, edge.to});
  const LayerLayout layout = lay_in_good_layers(graph, {});
  const auto [left, top] = frame(scene, layout.width, layout.height, picture);
  for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
    const Pixel at = layout.centre[n];
    picture.nodes.push_back(around({left + at.x, top + at.y}, half_extent(scene.nodes[n])));
  }
  DrawnLines seen;
  for (std::size_t e = 0; e < scene.edges.size(); ++e) {
    const auto& [from, to] = graph.arrows[e];
    const Rect& a = picture.nodes[from];
    const Rect& b = picture.nodes[to];
    const Line straight{.from = {a.x(), a.y()}, .to = {b.x(), b.y()}};
    std::vector<Pixel> via;
    for (const Pixel at : layout.via[e]) via.push_back({left + at.x, top + at.y});
    // A line that runs over nothing before all, then few crossings, then the plainest.
    Line best;
    double least = 1e300;
    const auto lines = choices(straight, via, a, b);
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const int under = nodes_under(lines[k], from, to, picture.nodes);
      const double met = scene.edges.size() <= most_compared ? 4.0 * seen.crossings(lines[k], a, b) : 0;
      const double cost = 1000.0 * under + met + static_cast<double>(k);
      if (cost >= least) continue;
      least = cost;
      best = lines[k];
    }
    // Corners are ugly, but there are no nodes between the layers.
    if (least >= 1000) best = cornered(lines.back());
    seen.add(best, a, b);
    picture.lines.push_back(best);
  }
  add_heads(scene, picture);
}

}  // namespace plated::draw
