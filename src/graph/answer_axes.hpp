// The axes of answers: batch dims, then the plates and chains of what is asked about, then states.
#pragma once

#include <string>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::graph {

/// The batch dims of a graph.
[[nodiscard]] std::vector<DimId> batch_axes(const FactorGraph& graph);

/// The axes of an answer named by a variable: batch dims, its plates, its chains and, unless `states` is false, its
/// states. P(v) is inferred once, for all variables.
class AnswerAxes {
 public:
  explicit AnswerAxes(const FactorGraph& graph);
  [[nodiscard]] const std::vector<DimId>& batch() const { return batch_; }
  [[nodiscard]] std::vector<DimId> operator()(DimId variable, bool states = true) const;
  /// The same in the memory of an earlier list.
  void put(DimId variable, std::vector<DimId>& axes) const;
  /// Of a set of variables: batch dims, all their plates, all their chains, their states; each in declaration order.
  [[nodiscard]] std::vector<DimId> operator()(const std::vector<DimId>& variables) const;
  /// The same for plates that are given.
  [[nodiscard]] std::vector<DimId> of(const std::vector<DimId>& plates, const std::vector<DimId>& variables) const;

 private:
  std::vector<DimId> batch_;
  std::vector<DimKind> kind_;               // [dim]
  std::vector<std::vector<DimId>> plates_;  // [variable]
};

/// All variables of a graph, ends of chains not among them.
[[nodiscard]] std::vector<DimId> variables(const FactorGraph& graph);

/// The graph asked for its total alone: one number for each batch. Where it is so already, it is Derived::shared().
[[nodiscard]] FactorGraph total_graph(const FactorGraph& graph);
/// Whether an output is the total.
[[nodiscard]] bool is_total(const FactorGraph& graph, const Output& output);
/// The names of dims.
[[nodiscard]] std::vector<std::string> names(const FactorGraph& graph, const std::vector<DimId>& dims);

}  // namespace plated::graph
