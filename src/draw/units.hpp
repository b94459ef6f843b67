// Units: connected nodes of the same plates, which are placed before their nodes are.
#pragma once

#include "draw/layout.hpp"

namespace plated::draw {

struct Units {
  std::vector<std::vector<int>> nodes;  ///< by unit
  std::vector<int> unit_of;             ///< by node
};

[[nodiscard]] Units find_units(const Scene& scene);

/// The units as points of an arrangement, with one box for each plate that has nodes; `plates` says which.
[[nodiscard]] Arrangement arrangement_of(const Units& units, const Scene& scene, std::vector<int>& plates);

/// Places for the units such that boxes hold exactly their nodes, as far as the search can find.
[[nodiscard]] Places place_units(const Arrangement& arrangement);

/// Boxes, by unit, that hold exactly their units at those places: one for a plate where that works, otherwise parts.
[[nodiscard]] std::vector<Box> boxes_of(const Arrangement& arrangement, const std::vector<int>& plates,
                                        const Places& places);

}  // namespace plated::draw
