// Connected components: factors are joined by the variables that they share, plates join nothing.
#include "base/disjoint_sets.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
std::vector<FactorGraph::Component> FactorGraph::components() const {
  std::vector<std::vector<DimId>> variables(factors_.size());
  std::vector<bool> held(dims_.size(), false);
  base::DisjointSets sets(dims_.size());
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    variables[f] = factor_variables(f);
    for (const DimId variable : variables[f]) {
      held[variable] = true;
      sets.join(variables[f].front(), variable);
    }
  }

  std::vector<Component> result;
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> component_of(dims_.size(), none);  // by root
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    if (variables[f].empty()) {
      result.push_back({{}, {f}});
      continue;
    }
    std::size_t& component = component_of[sets.root(variables[f].front())];
    if (component == none) {
      component = result.size();
      result.emplace_back();
    }
    result[component].factors.push_back(f);
  }
  for (DimId d = 0; d < dims_.size(); ++d) {
    if (dims_[d].kind != DimKind::variable) continue;
    if (held[d]) {
      result[component_of[sets.root(d)]].variables.push_back(d);
    } else {
      result.push_back({{d}, {}});
    }
  }
  return result;
}

}  // namespace plated
