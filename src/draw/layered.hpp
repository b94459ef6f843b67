// A layered layout with arrows downwards, after Sugiyama, Tagawa and Toda: ranks, orders, places.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "draw/geometry.hpp"

namespace plated::draw {

/// The input of a layout: the half extents of nodes, and arrows between them. Several arrows may join the same nodes.
struct LayerGraph {
  std::vector<Pixel> half;
  std::vector<std::pair<int, int>> arrows;
};

struct LayerGaps {
  double across = 22;  ///< between neighbours in a layer
  double bend = 12;    ///< between an arrow that passes through a layer and its neighbours there
  double down = 40;    ///< between layers
  /// Layers wider than that are broken in two, as far as their arrows then still point down.
  double widest = std::numeric_limits<double>::infinity();
};

struct LayerLayout {
  std::vector<Pixel> centre;            ///< by node
  std::vector<std::vector<Pixel>> via;  ///< by arrow: what it bends towards on its way, as in Line::via
  double width = 0, height = 0;
  double cost = 0;  ///< of long and crossing arrows and a large page
};

/// Unconnected parts are laid out by themselves, and packed side by side. Arrows on a cycle may point up.
[[nodiscard]] LayerLayout lay_in_layers(const LayerGraph& graph, const LayerGaps& gaps);

/// The best of several limits on the width.
[[nodiscard]] LayerLayout lay_in_good_layers(const LayerGraph& graph, LayerGaps gaps);

}  // namespace plated::draw
