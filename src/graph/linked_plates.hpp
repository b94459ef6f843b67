// The plates of variables that chains link, and of the ends of chains.
#pragma once

#include <map>
#include <vector>

#include "base/sorted_set.hpp"
#include "plated/factor_graph.hpp"

namespace plated::graph {

/// A factor or output: the plates it is in and the variables it holds.
struct Holder {
  const FactorGraph& graph;
  bool is_output = false;
  std::size_t index = 0;
  base::SortedSet plates;
  base::SortedSet variables;

  /// factor 'f0' (a b), or: output "ab"
  [[nodiscard]] std::string text() const;
};

using StatedPlates = std::map<DimId, std::vector<DimId>>;

/// Completes P(v), known for every other variable, by that of linked variables and of ends. Throws PlateError where
/// linked variables disagree, where a holder lacks one of their plates, and where an end does not exist.
void add_linked_plates(const FactorGraph& graph, const StatedPlates& stated, const std::vector<Holder>& holders,
                       std::vector<std::vector<DimId>>& plates);

}  // namespace plated::graph
