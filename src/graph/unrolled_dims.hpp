// The dims of an unrolled graph: copies of a plate's variables, and the states of a chain.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/link_paths.hpp"
#include "plated/factor_graph.hpp"

namespace plated::graph {

/// `y` becomes `y[i=0]`, and `y[i=0]` becomes `y[i=0,j=2]`.
[[nodiscard]] std::string copy_name(const std::string& name, const std::string& plate, std::int64_t slice);

/// Refuses more than 2^31 copies of variables, factors and outputs over the given plates, before any is made.
void check_copies(const FactorGraph& graph, const std::vector<std::vector<DimId>>& variable_plates,
                  const std::vector<DimId>& unrolled);

/// Which dim of the graph without a plate or chain stands for a dim of the graph with it, in each slice.
class UnrolledDims {
 public:
  UnrolledDims(const FactorGraph& graph, DimId unrolled, const std::vector<std::vector<DimId>>& variable_plates);

  /// How many dims a dim leaves: the path of links that a variable begins leaves its states, the others on it and the
  /// chain's ends nothing, and a dim outside of the plate one.
  [[nodiscard]] std::int64_t count(DimId dim) const { return count_[dim]; }
  [[nodiscard]] bool inside(DimId dim) const { return inside_[dim]; }

  /// The end of a chain must exist; of a variable inside the plate, any of its slices.
  [[nodiscard]] DimId of(DimId dim, std::int64_t slice) const;
  /// Of each but the plate itself.
  [[nodiscard]] std::vector<DimId> of(const std::vector<DimId>& dims, std::int64_t slice) const;

 private:
  DimId unrolled_;
  std::vector<bool> inside_;         // [dim]: whether its slices differ
  std::vector<std::int64_t> first_;  // [dim]: what its slice 0 is; before 0 where only later states exist
  std::vector<std::int64_t> count_;  // [dim]
};

}  // namespace plated::graph
