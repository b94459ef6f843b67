// A first placement in the plane whose distances follow those in the graph.
#pragma once

#include <vector>

#include "draw/arrangement.hpp"

namespace plated::draw {

struct Position {
  double x = 0;
  double y = 0;
};

/// Positions whose distances follow the lengths of shortest paths; unconnected parts lie apart. Fixed seed.
[[nodiscard]] std::vector<Position> spread(int points, const std::vector<Link>& links);

}  // namespace plated::draw
