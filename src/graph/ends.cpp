// Names ends and finds their chains.
#include "graph/ends.hpp"

#include <algorithm>

#include "graph/spell.hpp"
#include "plated/error.hpp"

namespace plated {

std::string first(std::string_view variable) { return "^" + std::string(variable); }
std::string last(std::string_view variable) { return std::string(variable) + "$"; }

namespace graph {
namespace {

OptionError without_order(const FactorGraph& graph, DimId variable, DimId chain) {
  return OptionError("a filtered marginal is asked for " + quoted(graph.dims()[variable].name) + " in chain " +
                     quoted(graph.dims()[chain].name) +
                     ", which links no variables: nothing says that its slices follow each other");
}

}  // namespace

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

VariablesOfChains by_outermost_chain(const FactorGraph& graph, const std::vector<DimId>& variables) {
  const std::vector<std::vector<DimId>> plates = graph.variable_plates();
  const auto is_in = [&](DimId v, DimId chain) {
    return std::find(plates[v].begin(), plates[v].end(), chain) != plates[v].end();
  };
  const auto is_outermost = [&](const Chain& chain) {
    return std::none_of(graph.chains().begin(), graph.chains().end(), [&](const Chain& other) {
      return other.dim != chain.dim && std::all_of(chain.links.begin(), chain.links.end(),
                                                   [&](const Link& link) { return is_in(link.source, other.dim); });
    });
  };
  VariablesOfChains result;
  std::vector<DimId> chains;
  for (const Chain& chain : graph.chains()) {
    if (!chain.links.empty() && is_outermost(chain)) chains.push_back(chain.dim);
  }
  if (!chains.empty()) result.try_emplace(chains[0]);
  for (const DimId v : variables) {
    const auto found = std::find_if(chains.begin(), chains.end(), [&](DimId chain) { return is_in(v, chain); });
    if (found == chains.end()) {
      for (const Chain& chain : graph.chains()) {
        if (is_in(v, chain.dim)) throw without_order(graph, v, chain.dim);
      }
    }
    if (!chains.empty()) result[found == chains.end() ? chains[0] : *found].push_back(v);
  }
  return result;
}

}  // namespace graph
}  // namespace plated
