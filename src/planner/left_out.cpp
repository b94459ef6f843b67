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

}  // namespace

/// Products over a plate change where a slice is left out, and whatever is computed from what changes. Nodes in a
/// chain's slices change as far as the components that leave these, whose plates the output has.
ProblemOutput find_left_out(const FactorGraph& graph, const Problem& problem, const LeftOut& left_out,
                            Elimination& elimination) {
  const DimId of = left_out.of;
  const bool of_plate = problem.kind[of] == DimKind::plate;
  const SortedSet gone = left_out_variables(graph, problem);
  std::vector<bool> is_missing = left_out.factors;  // [operand]: a plate around it is empty
  for (Node& node : elimination.nodes) {
    if (node.factor == none) continue;
    const ProblemFactor& factor = problem.factors[node.factor];
    const auto operand = static_cast<std::size_t>(factor.operand);
    if (factor.operand < 0) {
      node.changes = !base::intersect(factor.variables, gone).empty();
    } else if (of_plate) {
      // If the problem has left the plate out for its single slice, all that is in it goes.
      node.changes = contains(problem.absent, of) && contains(graph.factor_plates(operand), of);
    } else if (left_out.factors[operand]) {
      node.changes = true;
      is_missing[operand] = false;
    }
  }
  ProblemOutput output{.plates = {of}};
  for (const ComponentRecord& component : elimination.components) {
    const SortedSet changed = changed_nodes(elimination, component);
    const bool multiplies = of_plate && contains(component.leaf, of) && !contains(component.parent, of);
    if (changed.empty() && !multiplies) continue;
    if (of_plate || contains(component.parent, of)) {
      elimination.nodes[component.result].changes = true;
    } else {
      output.without = unite(output.without, changed);
      output.plates = unite(output.plates, component.leaf);
    }
  }
  for (const std::uint32_t n : elimination.scalars) {
    if (elimination.nodes[n].changes) output.without = unite(output.without, {n});
  }
  for (const Chain& chain : graph.chains()) {
    if (chain.dim != of || chain.links.empty() || std::count(is_missing.begin(), is_missing.end(), true) == 0) continue;
    output.plates = unite(output.plates, graph.variable_plates()[chain.links[0].source]);
  }
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
