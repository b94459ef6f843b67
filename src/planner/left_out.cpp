// Follows what is left out through the elimination.
#include "planner/left_out.hpp"

#include <algorithm>

#include "graph/answer_axes.hpp"

namespace plated::planner {
namespace {

using base::contains;
using base::unite;

/// A component's nodes that change.
SortedSet changed_nodes(const Elimination& elimination, const ComponentRecord& component) {
  SortedSet nodes = component.nodes;
  if (component.scan) nodes = unite(nodes, base::sorted(component.scan->absorbed));
  std::erase_if(nodes, [&](std::uint32_t n) { return !elimination.nodes[n].changes; });
  return nodes;
}

/// Products over the plate change, and whatever is computed from them. Of a plate that the problem has left out for its
/// single slice, all that is in it goes.
ProblemOutput without_slices(const FactorGraph& graph, const Problem& problem, DimId plate, Elimination& elimination) {
  const SortedSet gone = left_out_variables(graph, problem);
  for (Node& node : elimination.nodes) {
    if (node.factor == none || !contains(problem.absent, plate)) continue;
    const ProblemFactor& factor = problem.factors[node.factor];
    node.changes = factor.operand >= 0 ? contains(graph.factor_plates(static_cast<std::size_t>(factor.operand)), plate)
                                       : !base::intersect(factor.variables, gone).empty();
  }
  for (const ComponentRecord& component : elimination.components) {
    const bool multiplies = contains(component.leaf, plate) && !contains(component.parent, plate);
    if (multiplies || !changed_nodes(elimination, component).empty()) {
      elimination.nodes[component.result].changes = true;
    }
  }
  ProblemOutput output{.plates = {plate}};
  for (const std::uint32_t n : elimination.scalars) {
    if (elimination.nodes[n].changes) output.without = unite(output.without, {n});
  }
  return output;
}

/// Nodes in the chain's slices change as far as the components that leave these, whose plates the output has.
ProblemOutput without_factors(const FactorGraph& graph, const Problem& problem, const LeftOut& left_out,
                              Elimination& elimination) {
  ProblemOutput output{.plates = {left_out.of}};
  std::vector<bool> is_gone = left_out.factors;  // [operand]: a plate around it is empty
  for (Node& node : elimination.nodes) {
    const std::int64_t operand = node.factor != none ? problem.factors[node.factor].operand : -1;
    if (operand < 0 || !left_out.factors[static_cast<std::size_t>(operand)]) continue;
    node.changes = true;
    is_gone[static_cast<std::size_t>(operand)] = false;
  }
  for (const ComponentRecord& component : elimination.components) {
    const SortedSet changed = changed_nodes(elimination, component);
    if (changed.empty()) continue;
    if (contains(component.parent, left_out.of)) {
      elimination.nodes[component.result].changes = true;
    } else {
      output.without = unite(output.without, changed);
      output.plates = unite(output.plates, component.leaf);
    }
  }
  if (std::find(is_gone.begin(), is_gone.end(), true) == is_gone.end()) return output;
  for (const Chain& chain : graph.chains()) {
    if (chain.dim != left_out.of || chain.links.empty()) continue;
    output.plates = unite(output.plates, graph.variable_plates()[chain.links[0].source]);
  }
  return output;
}

}  // namespace

ProblemOutput find_left_out(const FactorGraph& graph, const Problem& problem, const LeftOut& left_out,
                            Elimination& elimination) {
  ProblemOutput output = problem.kind[left_out.of] == DimKind::plate
                             ? without_slices(graph, problem, left_out.of, elimination)
                             : without_factors(graph, problem, left_out, elimination);
  output.empty = std::any_of(output.plates.begin(), output.plates.end(),
                             [&](DimId d) { return contains(problem.fixed, d) && graph.dims()[d].size == 0; });
  return output;
}

std::vector<DimId> left_out_axes(const FactorGraph& graph, const ProblemOutput& output, const LeftOut& left_out) {
  std::vector<DimId> axes = graph::AnswerAxes(graph).of(base::subtract(output.plates, {left_out.of}), {});
  axes.push_back(left_out.of);
  return axes;
}

SortedSet left_out_variables(const FactorGraph& graph, const Problem& problem) {
  SortedSet variables;
  if (!problem.left_out_of || !contains(problem.absent, *problem.left_out_of)) return variables;
  const auto& plates = graph.variable_plates();
  for (DimId v = 0; v < plates.size(); ++v) {
    if (problem.kind[v] == DimKind::variable && contains(plates[v], *problem.left_out_of)) variables.push_back(v);
  }
  return variables;
}

}  // namespace plated::planner
