// Graphs derived from another: the same dims under the same ids, of which some may be unused.
#pragma once

#include <string>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::graph {

/// Builds a graph over the dims of another one without chains. Dims that are not mentioned become variables of a single
/// state, which contribute nothing.
class Derived {
 public:
  /// The same graph in the same memory. Where one of the two is changed it moves, so that references to its dims and
  /// factors end: for graphs that nobody changes while the other lives.
  [[nodiscard]] static FactorGraph shared(const FactorGraph& graph);

  explicit Derived(const FactorGraph& original);

  /// Changes to a graph whose meaning the caller keeps. From now on variables have these plates, regardless of the
  /// factors that hold them.
  static void state_plates(FactorGraph& graph, const std::vector<std::vector<DimId>>& plates);
  /// A variable has another number of states; its ends, if it has any, do not follow.
  static void resize_variable(FactorGraph& graph, DimId variable, std::int64_t states) {
    graph.edit(graph.dims_)[variable].size = states;
  }
  /// Replaces a factor, or adds one after all others.
  static void put_factor(FactorGraph& graph, std::size_t index, Factor factor);

  void batch(DimId dim) { become(dim, DimKind::batch); }
  void plate(DimId dim) { become(dim, DimKind::plate); }
  void variable(DimId dim, std::vector<DimId> plates);
  /// Its dims must have been mentioned.
  void factor(std::string name, std::vector<DimId> dims, std::vector<DimId> tied);
  void output(std::vector<DimId> dims) { graph_.edit(graph_.outputs_).push_back({std::move(dims)}); }

  [[nodiscard]] FactorGraph finish() && { return std::move(graph_); }

 private:
  void become(DimId dim, DimKind kind);

  const FactorGraph& original_;
  FactorGraph graph_;
};

}  // namespace plated::graph
