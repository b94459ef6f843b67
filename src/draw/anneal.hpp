// Simulated annealing of a layout on the grid.
#pragma once

#include "draw/arrangement.hpp"

namespace plated::draw {

struct AnnealOptions {
  std::uint64_t seed = 1;
  double budget = 1e8;  ///< elementary operations; decides the number of moves, so that no clock is read
  double hot = 6;       ///< first temperature, in units of cost
  double cold = 0.05;
};

/// The best layout that a fixed number of moves from `start` finds, its rows and columns without gaps. The cost never
/// rises, so a start without intruders stays without.
[[nodiscard]] Places anneal(const Arrangement& arrangement, Places start, const AnnealOptions& options);

}  // namespace plated::draw
