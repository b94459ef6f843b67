// Finds connected components: shared variables join factors, links and ends of chains join variables; plates join
// nothing.
#include "base/disjoint_sets.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
std::vector<FactorGraph::Component> FactorGraph::components() const {
  std::vector<std::vector<DimId>> variables(factors().size());
  base::DisjointSets sets(dims().size());
  for (std::size_t f = 0; f < factors().size(); ++f) {
    variables[f] = factor_variables(f);
    for (const DimId variable : variables[f]) sets.join(variables[f].front(), variable);
  }
  for (const Chain& chain : chains_) {
    for (const Link& link : chain.links) sets.join(link.source, link.target);
  }
  for (DimId d = 0; d < dims().size(); ++d) {
    if (dims()[d].end != End::none) sets.join(d, dims()[d].of);
  }

  std::vector<Component> result;
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> component_of(dims().size(), none);  // by root
  const auto find_or_add = [&](DimId variable) {
    std::size_t& component = component_of[sets.root(variable)];
    if (component == none) {
      component = result.size();
      result.emplace_back();
    }
    return component;
  };
  for (std::size_t f = 0; f < factors().size(); ++f) {
    if (variables[f].empty()) {
      result.push_back({{}, {f}});
      continue;
    }
    result[find_or_add(variables[f].front())].factors.push_back(f);
  }
  for (DimId d = 0; d < dims().size(); ++d) {
    if (dims()[d].kind == DimKind::variable) result[find_or_add(d)].variables.push_back(d);
  }
  return result;
}

}  // namespace plated
