// The paths that links lead along: a→b→c is one sequence of states, seen through a window of three.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::graph {

/// The variables a → b → … of one path, in order; over T slices they are windows on T + order() states, and slice τ's
/// k-th variable is state τ + k.
struct LinkPath {
  DimId chain = 0;
  std::vector<DimId> variables;
  [[nodiscard]] std::int64_t order() const { return static_cast<std::int64_t>(variables.size()) - 1; }
};

/// Where a variable stands on its path.
struct LinkPlace {
  std::size_t path = 0;
  std::int64_t offset = 0;
};

/// Every path of a graph, in the order of the links that begin them.
class LinkPaths {
 public:
  explicit LinkPaths(const FactorGraph& graph);
  [[nodiscard]] const std::vector<LinkPath>& all() const { return paths_; }
  /// None for dims that no chain links.
  [[nodiscard]] const std::optional<LinkPlace>& place(DimId dim) const { return places_[dim]; }

 private:
  std::vector<LinkPath> paths_;
  std::vector<std::optional<LinkPlace>> places_;  // [dim]
};

}  // namespace plated::graph
