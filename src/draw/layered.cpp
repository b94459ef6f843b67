// Runs the stages of a layered layout for each connected part, and packs the parts.
#include "draw/layered.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/disjoint_sets.hpp"
#include "draw/layers.hpp"

namespace plated::draw {

Layers make_layers(const LayerGraph& graph, const std::vector<int>& ranks) {
  Layers layers;
  const int count = ranks.empty() ? 0 : 1 + *std::max_element(ranks.begin(), ranks.end());
  layers.order.resize(count);
  std::vector<double> half(count);  // bends are as high as their layers
  for (std::size_t n = 0; n < ranks.size(); ++n) {
    layers.items.push_back({.layer = ranks[n], .half = graph.half[n]});
    half[ranks[n]] = std::max(half[ranks[n]], graph.half[n].y);
  }
  const auto join = [&](int upper, int lower) {
    layers.items[upper].down.push_back(lower);
    layers.items[lower].up.push_back(upper);
  };
  for (const auto& [from, to] : graph.arrows) {
    std::vector<int> bends;
    int last = from;
    for (int layer = ranks[from] + 1; layer < ranks[to]; ++layer) {
      bends.push_back(static_cast<int>(layers.items.size()));
      layers.items.push_back({.layer = layer, .half = {0, half[layer]}, .is_bend = true});
      join(last, bends.back());
      last = bends.back();
    }
    if (from != to) join(last, to);
    layers.bends.push_back(std::move(bends));
  }
  return layers;
}

namespace {

/// What a crossing costs, in pixels of arrow, and what a pixel of the page's width does, at least and for each arrow.
constexpr double crossing_cost = 60;
constexpr double least_page_cost = 4;
constexpr double page_cost = 0.06;
constexpr double page_ratio = 1.5;  // of width to height

LayerLayout lay_part(const LayerGraph& graph, const LayerGaps& gaps) {
  LayerGraph down{graph.half, without_cycles(static_cast<int>(graph.half.size()), graph.arrows)};
  Layers layers = make_layers(down, rank_nodes(down, gaps));
  const int crossings = order_layers(layers);
  const auto x = place_across(layers, gaps);
  const auto y = place_down(layers, x, gaps);

  LayerLayout layout;
  double left = std::numeric_limits<double>::infinity(), right = -left;
  for (std::size_t i = 0; i < layers.items.size(); ++i) {
    left = std::min(left, x[i] - layers.items[i].half.x);
    right = std::max(right, x[i] + layers.items[i].half.x);
  }
  for (std::size_t n = 0; n < graph.half.size(); ++n) {
    layout.centre.push_back({x[n] - left, y[layers.items[n].layer]});
    layout.height = std::max(layout.height, layout.centre[n].y + graph.half[n].y);
  }
  layout.width = right - left;
  layout.cost = crossing_cost * crossings;
  for (std::size_t a = 0; a < graph.arrows.size(); ++a) {
    std::vector<Pixel> via;
    Pixel last = layout.centre[down.arrows[a].first];
    // Two points for each bend, above and below its layer: the line is upright while it passes between nodes.
    for (const int bend : layers.bends[a]) {
      const double across = x[bend] - left, middle = y[layers.items[bend].layer], half = layers.items[bend].half.y;
      layout.cost += std::hypot(across - last.x, middle - last.y);
      last = {across, middle};
      via.push_back({across, middle - half});
      via.push_back({across, middle + half});
    }
    const Pixel end = layout.centre[down.arrows[a].second];
    layout.cost += std::hypot(end.x - last.x, end.y - last.y);
    if (down.arrows[a] != graph.arrows[a]) std::reverse(via.begin(), via.end());
    layout.via.push_back(std::move(via));
  }
  return layout;
}

/// The connected parts of a graph, each with its nodes and arrows in order.
struct Part {
  std::vector<int> nodes, arrows;
};

std::vector<Part> parts_of(const LayerGraph& graph) {
  const int nodes = static_cast<int>(graph.half.size());
  base::DisjointSets sets(graph.half.size());
  for (const auto& [from, to] : graph.arrows) sets.join(from, to);
  std::vector<int> part_of(nodes, -1);
  std::vector<Part> parts;
  for (int n = 0; n < nodes; ++n) {
    int& part = part_of[sets.root(n)];
    if (part < 0) {
      part = static_cast<int>(parts.size());
      parts.emplace_back();
    }
    parts[part].nodes.push_back(n);
  }
  for (std::size_t a = 0; a < graph.arrows.size(); ++a)
    parts[part_of[sets.root(graph.arrows[a].first)]].arrows.push_back(static_cast<int>(a));
  return parts;
}

LayerGraph graph_of(const Part& part, const LayerGraph& whole) {
  LayerGraph graph;
  for (const int n : part.nodes) graph.half.push_back(whole.half[n]);
  const auto local = [&](int node) {
    return static_cast<int>(std::lower_bound(part.nodes.begin(), part.nodes.end(), node) - part.nodes.begin());
  };
  for (const int a : part.arrows) graph.arrows.push_back({local(whole.arrows[a].first), local(whole.arrows[a].second)});
  return graph;
}

}  // namespace

LayerLayout lay_in_layers(const LayerGraph& graph, const LayerGaps& gaps) {
  LayerLayout page{.centre = std::vector<Pixel>(graph.half.size()),
                   .via = std::vector<std::vector<Pixel>>(graph.arrows.size())};
  const auto parts = parts_of(graph);
  std::vector<LayerLayout> own;
  double area = 0, widest = 0;
  for (const auto& part : parts) {
    own.push_back(lay_part(graph_of(part, graph), gaps));
    area += (own.back().width + gaps.across) * (own.back().height + gaps.down);
    widest = std::max(widest, own.back().width);
    page.cost += own.back().cost;
  }
  // Shelves from the top, high parts first.
  const double shelf = std::max(widest, std::sqrt(area * page_ratio));
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return own[a].height > own[b].height; });
  double left = 0, top = 0, high = 0;
  for (const std::size_t p : order) {
    if (left > 0 && left + own[p].width > shelf) {
      top += high + gaps.down;
      left = high = 0;
    }
    const auto moved = [&](Pixel at) { return Pixel{at.x + left, at.y + top}; };
    for (std::size_t k = 0; k < parts[p].nodes.size(); ++k) page.centre[parts[p].nodes[k]] = moved(own[p].centre[k]);
    for (std::size_t k = 0; k < parts[p].arrows.size(); ++k) {
      for (const Pixel at : own[p].via[k]) page.via[parts[p].arrows[k]].push_back(moved(at));
    }
    page.width = std::max(page.width, left + own[p].width);
    page.height = std::max(page.height, top + own[p].height);
    high = std::max(high, own[p].height);
    left += own[p].width + gaps.across;
  }
  const double each = std::max(least_page_cost, page_cost * static_cast<double>(graph.arrows.size()));
  page.cost += each * std::max(page.width, page_ratio * page.height);
  return page;
}

LayerLayout lay_in_good_layers(const LayerGraph& graph, LayerGaps gaps) {
  LayerLayout best = lay_in_layers(graph, gaps);
  double area = 0;
  for (const Pixel half : graph.half) area += (2 * half.x + gaps.across) * (2 * half.y + gaps.down);
  const double unlimited = best.width;
  for (const double share : {2.0, 1.5, 1.1, 0.8}) {
    gaps.widest = share * std::sqrt(page_ratio * area);
    if (gaps.widest >= unlimited) continue;
    LayerLayout layout = lay_in_layers(graph, gaps);
    if (layout.cost < best.cost) best = std::move(layout);
  }
  return best;
}

}  // namespace plated::draw
