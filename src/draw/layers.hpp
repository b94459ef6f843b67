// The stages of a layout in layers.
#pragma once

#include <vector>

#include "draw/layered.hpp"

namespace plated::draw {

/// Nodes, and bends of arrows that pass through layers, in layers from the top, each in order from the left.
struct Layers {
  struct Item {
    int layer = 0;
    Pixel half;
    bool is_bend = false;
    std::vector<int> up, down;  ///< neighbours in the layers above and below
  };
  std::vector<Item> items;  ///< the nodes, then the bends
  std::vector<std::vector<int>> order;
  std::vector<std::vector<int>> bends;  ///< by arrow, from the top
};

/// The arrows with some of them turned round, so that none lies on a cycle; arrows from a node to itself vanish into
/// {n, n}.
[[nodiscard]] std::vector<std::pair<int, int>> without_cycles(int nodes, std::vector<std::pair<int, int>> arrows);

/// A layer for each node, so that arrows (without cycles) point down and are short.
[[nodiscard]] std::vector<int> rank_nodes(const LayerGraph& graph, const LayerGaps& gaps);

[[nodiscard]] Layers make_layers(const LayerGraph& graph, const std::vector<int>& ranks);

/// Orders the layers so that few arrows cross; returns how many do.
int order_layers(Layers& layers);

/// The x of each item: no two closer than the gaps allow, arrows as straight as that permits.
[[nodiscard]] std::vector<double> place_across(const Layers& layers, const LayerGaps& gaps);

/// The y of each layer.
[[nodiscard]] std::vector<double> place_down(const Layers& layers, const std::vector<double>& x, const LayerGaps& gaps);

}  // namespace plated::draw
