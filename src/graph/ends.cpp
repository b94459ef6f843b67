// Names ends and finds their chains.
#include "graph/ends.hpp"

#include <algorithm>

namespace plated {

std::string first(std::string_view variable) { return "^" + std::string(variable); }
std::string last(std::string_view variable) { return std::string(variable) + "$"; }

namespace graph {

SplitName split_end(std::string_view name) {
  if (name.starts_with('^')) return {name.substr(1), End::first};
  if (name.ends_with('$')) return {name.substr(0, name.size() - 1), End::last};
  return {name, End::none};
}

std::string with_end(std::string_view variable, End end) {
  if (end == End::none) return std::string(variable);
  return end == End::first ? first(variable) : last(variable);
}

std::optional<DimId> chain_of_ends(const FactorGraph& graph, DimId variable, const std::vector<DimId>& plates) {
  if (const auto chain = graph.linking_chain(variable)) return chain;
  std::optional<DimId> only;
  for (const DimId plate : plates) {
    if (graph.dims()[plate].kind != DimKind::chain) continue;
    if (only) return std::nullopt;
    only = plate;
  }
  return only;
}

std::vector<DimId> outermost_chains(const FactorGraph& graph) {
  const std::vector<std::vector<DimId>> plates_of = graph.variable_plates();
  const auto runs_inside = [&](const Chain& chain, const Chain& other) {
    return other.dim != chain.dim && std::all_of(chain.links.begin(), chain.links.end(), [&](const Link& link) {
             const std::vector<DimId>& plates = plates_of[link.source];
             return std::find(plates.begin(), plates.end(), other.dim) != plates.end();
           });
  };
  std::vector<DimId> list;
  for (const Chain& chain : graph.chains()) {
    const auto is_around = [&](const Chain& other) { return runs_inside(chain, other); };
    if (!chain.links.empty() && std::none_of(graph.chains().begin(), graph.chains().end(), is_around))
      list.push_back(chain.dim);
  }
  return list;
}

}  // namespace graph
}  // namespace plated
