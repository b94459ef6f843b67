// The layout of a scene on the grid: a place for every node, and the boxes that plates are drawn as.
#pragma once

#include "draw/arrangement.hpp"
#include "draw/scene.hpp"

namespace plated::draw {

/// A rectangle around some or all of a plate's nodes.
struct Box {
  int plate = 0;
  bool is_part = false;      ///< the plate has further boxes
  std::vector<char> inside;  ///< by node
};

struct Layout {
  Places places;  ///< by node; no two are equal
  std::vector<Box> boxes;
};

/// A layout in which every box holds exactly its nodes.
[[nodiscard]] Layout lay_out(const Scene& scene);

}  // namespace plated::draw
