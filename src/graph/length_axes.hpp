// Which plates the lengths of a plate or chain depend on.
#pragma once

#include <string>
#include <vector>

#include "base/sorted_set.hpp"
#include "plated/factor_graph.hpp"

namespace plated::graph {

/// A factor or variable of a plate, and the other plates that it is in.
struct PlateItem {
  std::string name;
  base::SortedSet around;
};

/// All factors and variables of a plate.
[[nodiscard]] std::vector<PlateItem> items_in(const FactorGraph& graph, DimId plate);

/// The plates that everything in a plate is in, besides it. A chain whose linked variables are in the plate runs
/// through its slices, and has no say in how many there are.
[[nodiscard]] base::SortedSet common_plates(const FactorGraph& graph, DimId plate, const std::vector<PlateItem>& items);

/// The axes that lengths of a plate may have: batch dims and the plates that everything in it is in. Those of a chain
/// that links something: batch dims and the plates of what it links.
[[nodiscard]] std::vector<DimId> length_axes(const FactorGraph& graph, DimId plate);

}  // namespace plated::graph
