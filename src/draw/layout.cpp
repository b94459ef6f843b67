// Runs the stages of a layout: units, their places, boxes, a grid for the nodes of each unit, and annealing.
#include "draw/layout.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "draw/anneal.hpp"
#include "draw/stress.hpp"
#include "draw/units.hpp"

namespace plated::draw {
namespace {

/// Each position's nearest free place of the grid, in their order.
Places snapped(const std::vector<Position>& positions) {
  Places places(positions.size());
  std::set<std::pair<int, int>> taken;
  for (std::size_t p = 0; p < positions.size(); ++p) {
    const int column = static_cast<int>(std::lround(positions[p].x)),
              row = static_cast<int>(std::lround(positions[p].y));
    double best = 1e300;
    for (int radius = 0; best > radius; ++radius) {
      for (int dx = -radius; dx <= radius; ++dx) {
        for (int dy = -radius; dy <= radius; ++dy) {
          if (std::max(std::abs(dx), std::abs(dy)) != radius || taken.contains({column + dx, row + dy})) continue;
          const double distance = std::hypot(column + dx - positions[p].x, row + dy - positions[p].y);
          if (distance >= best) continue;
          best = distance;
          places[p] = {column + dx, row + dy};
        }
      }
    }
    taken.insert({places[p].column, places[p].row});
  }
  return places;
}

/// A unit's own little grid: its positions in the plane, turned to the angle that suits the grid best.
Places place_within(const std::vector<int>& nodes, const std::vector<Position>& positions,
                    const std::vector<Link>& all) {
  if (nodes.size() == 1) return {Point{}};
  Arrangement own{.points = static_cast<int>(nodes.size())};
  const auto local = [&](int node) {
    const auto at = std::lower_bound(nodes.begin(), nodes.end(), node);
    return at != nodes.end() && *at == node ? static_cast<int>(at - nodes.begin()) : -1;
  };
  for (const auto& link : all) {
    const int from = local(link.from), to = local(link.to);
    if (from >= 0 && to >= 0) own.links.push_back({from, to, 1, link.down});
  }
  Places best;
  double best_cost = 0;
  constexpr int turns = 24;
  for (int turn = 0; turn < turns; ++turn) {
    const double angle = 2 * turn * std::numbers::pi / turns;
    std::vector<Position> turned;
    for (const int node : nodes) {
      const auto [x, y] = positions[node];
      turned.push_back({std::cos(angle) * x - std::sin(angle) * y, std::sin(angle) * x + std::cos(angle) * y});
    }
    Places places = snapped(turned);
    const double now = LayoutCost(own, places).total();
    if (best.empty() || now < best_cost) {
      best_cost = now;
      best = std::move(places);
    }
  }
  return best;
}

/// Puts each unit's grid at its unit's place. A coarse column is as wide as its widest unit, so what lay outside a box
/// stays outside.
Places assemble(const Units& units, const Places& coarse, const std::vector<Places>& own, std::size_t nodes) {
  std::vector<int> width, height;
  std::vector<Span> spans;
  const auto extend = [](std::vector<int>& extents, int at, int extent) {
    if (static_cast<int>(extents.size()) <= at) extents.resize(at + 1, 1);
    extents[at] = std::max(extents[at], extent);
  };
  for (std::size_t unit = 0; unit < own.size(); ++unit) {
    const Span span = span_of(std::vector<char>(own[unit].size(), 1), own[unit]);
    spans.push_back(span);
    extend(width, coarse[unit].column, span.right - span.left + 1);
    extend(height, coarse[unit].row, span.bottom - span.top + 1);
  }
  const auto before = [](const std::vector<int>& extents, int at) {
    int sum = 0;
    for (int k = 0; k < at; ++k) sum += extents[k];
    return sum;
  };
  Places places(nodes);
  for (std::size_t unit = 0; unit < own.size(); ++unit) {
    const Span& span = spans[unit];
    const auto [column, row] = coarse[unit];
    const int x = before(width, column) + (width[column] - (span.right - span.left + 1)) / 2;
    const int y = before(height, row) + (height[row] - (span.bottom - span.top + 1)) / 2;
    for (std::size_t k = 0; k < own[unit].size(); ++k) {
      places[units.nodes[unit][k]] = {x + own[unit][k].column - span.left, y + own[unit][k].row - span.top};
    }
  }
  return places;
}

/// The best of some annealings. Small graphs start hot and so forget the coarse arrangement; large ones have too few
/// moves to find another as good. Then cold, as closing gaps may have put lines over nodes.
Places improved(const Arrangement& arrangement, const Places& start) {
  const int tries = arrangement.points <= 40 ? 4 : 1;
  const double hot = std::clamp(90.0 / arrangement.points, 1.0, 6.0);
  double least = 0;
  Places best;
  for (int k = 0; k < tries; ++k) {
    const auto seed = static_cast<std::uint64_t>(k);
    Places places = anneal(arrangement, start, {.seed = 2 * seed, .budget = 4e7 / tries, .hot = hot});
    places = anneal(arrangement, std::move(places), {.seed = 2 * seed + 1, .budget = 1.5e7 / tries, .hot = 0.5});
    const double cost = LayoutCost(arrangement, places).total();
    if (k > 0 && cost >= least) continue;
    least = cost;
    best = std::move(places);
  }
  return best;
}

}  // namespace

Layout lay_out(const Scene& scene) {
  if (scene.nodes.empty()) return {};
  std::vector<Link> links;
  for (const auto& edge : scene.edges) {
    // A link is drawn as an arc, wherever its ends lie, and they have a factor or an arrow between them as a rule.
    if (edge.kind != Edge::Kind::link)
      links.push_back({edge.from, edge.to, 1, edge.kind == Edge::Kind::arrow ? 1.0 : 0});
  }

  const Units units = find_units(scene);
  std::vector<int> plates;
  const Arrangement coarse = arrangement_of(units, scene, plates);
  const Places unit_places = place_units(coarse);
  std::vector<Box> boxes = boxes_of(coarse, plates, unit_places);

  const auto positions = spread(static_cast<int>(scene.nodes.size()), links);
  std::vector<Places> own;
  for (const auto& nodes : units.nodes) own.push_back(place_within(nodes, positions, links));
  Places places = assemble(units, unit_places, own, scene.nodes.size());

  Arrangement fine{.points = static_cast<int>(scene.nodes.size()), .links = links, .groups = units.nodes};
  std::erase_if(fine.groups, [&](const auto& group) { return group.size() < 2 || group.size() == scene.nodes.size(); });
  for (auto& box : boxes) {
    std::vector<char> inside(scene.nodes.size());
    std::vector<int> group;
    for (std::size_t n = 0; n < inside.size(); ++n) {
      inside[n] = box.inside[units.unit_of[n]];
      if (inside[n]) group.push_back(static_cast<int>(n));
    }
    if (group.size() > 1 && group.size() < scene.nodes.size()) fine.groups.push_back(std::move(group));
    fine.inside.push_back(inside);
    box.inside = std::move(inside);
  }
  places = improved(fine, places);
  return {std::move(places), std::move(boxes)};
}

}  // namespace plated::draw
