// Computes the coarse layout: places units side by side, and splits plates that fit no rectangle.
#include "draw/units.hpp"

#include <algorithm>
#include <map>

#include "draw/anneal.hpp"

namespace plated::draw {

Units find_units(const Scene& scene) {
  const int count = static_cast<int>(scene.nodes.size());
  std::vector<std::vector<int>> neighbours(count);
  for (const auto& edge : scene.edges) {
    if (scene.nodes[edge.from].plates != scene.nodes[edge.to].plates) continue;
    neighbours[edge.from].push_back(edge.to);
    neighbours[edge.to].push_back(edge.from);
  }
  Units units{.unit_of = std::vector<int>(count, -1)};
  for (int start = 0; start < count; ++start) {
    if (units.unit_of[start] >= 0) continue;
    const int unit = static_cast<int>(units.nodes.size());
    std::vector<int> members{start};
    units.unit_of[start] = unit;
    for (std::size_t head = 0; head < members.size(); ++head) {
      for (const int next : neighbours[members[head]]) {
        if (units.unit_of[next] >= 0) continue;
        units.unit_of[next] = unit;
        members.push_back(next);
      }
    }
    std::sort(members.begin(), members.end());
    units.nodes.push_back(std::move(members));
  }
  return units;
}

Arrangement arrangement_of(const Units& units, const Scene& scene, std::vector<int>& plates) {
  Arrangement arrangement{.points = static_cast<int>(units.nodes.size())};
  std::map<std::pair<int, int>, Link> links;
  for (const auto& edge : scene.edges) {
    const int from = units.unit_of[edge.from], to = units.unit_of[edge.to];
    if (from == to) continue;
    Link& link =
        links.try_emplace(std::minmax(from, to), Link{std::min(from, to), std::max(from, to), 0}).first->second;
    link.weight += 1;
    if (edge.kind == Edge::Kind::arrow) link.down += from < to ? 1 : -1;
  }
  for (const auto& [ends, link] : links) arrangement.links.push_back(link);
  std::map<std::vector<int>, std::vector<int>> cells;  // units of the same plates
  for (int plate = 0; plate < static_cast<int>(scene.plates.size()); ++plate) {
    std::vector<char> inside(arrangement.points);
    for (int unit = 0; unit < arrangement.points; ++unit) {
      const auto& of = scene.nodes[units.nodes[unit].front()].plates;
      inside[unit] = std::find(of.begin(), of.end(), plate) != of.end();
    }
    if (std::find(inside.begin(), inside.end(), 1) == inside.end()) continue;
    plates.push_back(plate);
    std::vector<int> group;
    for (int unit = 0; unit < arrangement.points; ++unit) {
      if (inside[unit]) group.push_back(unit);
    }
    if (group.size() > 1) arrangement.groups.push_back(std::move(group));
    arrangement.inside.push_back(std::move(inside));
  }
  for (int unit = 0; unit < arrangement.points; ++unit) {
    cells[scene.nodes[units.nodes[unit].front()].plates].push_back(unit);
  }
  for (auto& [of, group] : cells) {
    if (group.size() > 1) arrangement.groups.push_back(std::move(group));
  }
  return arrangement;
}

Places place_units(const Arrangement& arrangement) {
  // In a row, units of the same plates side by side.
  std::vector<int> order(arrangement.points);
  for (int unit = 0; unit < arrangement.points; ++unit) order[unit] = unit;
  const auto plates_of = [&](int unit) {
    std::vector<char> of;
    for (const auto& inside : arrangement.inside) of.push_back(inside[unit]);
    return of;
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return plates_of(a) < plates_of(b); });
  Places row(arrangement.points);
  for (int k = 0; k < arrangement.points; ++k) row[order[k]] = {k, 0};

  // Intruders are a rough landscape: several tries from hot, the best of them kept.
  constexpr int tries = 6;
  constexpr double all_tries = 2.4e7;
  const auto cost = [&](const Places& places) { return LayoutCost(arrangement, places).total(); };
  Places best = row;
  for (int k = 0; k < tries; ++k) {
    AnnealOptions options{.seed = std::uint64_t(k + 1), .budget = all_tries / tries, .hot = 20};
    Places places = anneal(arrangement, row, options);
    if (cost(places) < cost(best)) best = std::move(places);
  }
  return best;
}

std::vector<Box> boxes_of(const Arrangement& arrangement, const std::vector<int>& plates, const Places& places) {
  std::vector<Box> boxes;
  for (std::size_t b = 0; b < arrangement.inside.size(); ++b) {
    const auto& inside = arrangement.inside[b];
    const auto is_true = [&](const std::vector<char>& part) {
      const Span span = span_of(part, places);
      for (int p = 0; p < arrangement.points; ++p) {
        if (!part[p] && span.holds(places[p])) return false;
      }
      return true;
    };
    if (is_true(inside)) {
      boxes.push_back({plates[b], false, inside});
      continue;
    }
    // Greedily: a part for each unit, then parts join while their common rectangle holds no other unit.
    std::vector<std::vector<char>> parts;
    for (int p = 0; p < arrangement.points; ++p) {
      if (!inside[p]) continue;
      parts.emplace_back(arrangement.points);
      parts.back()[p] = 1;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::size_t j = i + 1; j < parts.size();) {
        auto both = parts[i];
        for (std::size_t p = 0; p < both.size(); ++p) both[p] |= parts[j][p];
        if (!is_true(both)) {
          ++j;
          continue;
        }
        parts[i] = std::move(both);
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(j));
        j = i + 1;
      }
    }
    for (auto& part : parts) boxes.push_back({plates[b], true, std::move(part)});
  }
  return boxes;
}

}  // namespace plated::draw
