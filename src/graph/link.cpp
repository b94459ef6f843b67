// Chains in the builder: declares links and checks which variables may be linked.
#include <algorithm>

#include "graph/parse_names.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {

using graph::quoted;

DimId FactorGraph::chain(std::string_view name, std::int64_t size) {
  graph::check_name(name);
  const DimId id = declare(name, DimKind::chain, size);
  edit(chains_).push_back({id, {}});
  return id;
}

void FactorGraph::link(std::string_view chain, std::string_view source, std::string_view target) {
  const std::string text = std::string(source) + "->" + std::string(target);
  const std::string where = "link " + quoted(text) + " of chain " + quoted(chain);
  const auto found = find(chain);
  if (!found) throw UnknownNameError("there is no chain " + quoted(chain) + " to link " + quoted(text) + " in");
  if (dims()[*found].kind != DimKind::chain) {
    throw PlateError(quoted(chain) + " is not a chain but a " + graph::kind_name(dims()[*found].kind) + ", and only " +
                     "chains have links");
  }
  if (!factors().empty() || !outputs_.empty()) {
    throw PlateError(where + " is declared after a factor or output: links say what those mean, so they are declared " +
                     "before the first");
  }
  const auto variable = [&](std::string_view name) {
    const auto id = find(name);
    if (!id) throw UnknownNameError("unknown variable " + quoted(name) + " in " + where);
    if (dims()[*id].kind == DimKind::variable && dims()[*id].end == End::none) return *id;
    throw PlateError(quoted(name) + " in " + where + " is not a variable but a " +
                     (dims()[*id].end == End::none ? graph::kind_name(dims()[*id].kind) : "chain's end"));
  };
  const Link link{variable(source), variable(target)};
  if (dims()[link.source].size != dims()[link.target].size) {
    throw SizeError(where + " makes one variable of " + quoted(source) + " and " + quoted(target) +
                    ", but their sizes are " + std::to_string(dims()[link.source].size) + " and " +
                    std::to_string(dims()[link.target].size));
  }
  const auto linked = [&](DimId id) { return linked_->contains(id) ? linked_->at(id) : Linked{*found, {}, {}}; };
  for (const DimId id : {link.source, link.target}) {
    if (linked(id).chain == *found) continue;
    throw PlateError(where + ": variable " + quoted(dims()[id].name) + " is linked in chain " +
                     quoted(dims()[linked(id).chain].name) + " already, and one chain links a variable");
  }
  if (const auto after = linked(link.source).after) {
    throw PlateError(where + ": " + quoted(source) + " is linked to " + quoted(dims()[*after].name) +
                     " already, and a variable is the source of one link at most");
  }
  if (const auto before = linked(link.target).before) {
    throw PlateError(where + ": " + quoted(target) + " has " + quoted(dims()[*before].name) +
                     " linked to it already, and a variable is the target of one link at most");
  }
  for (std::optional<DimId> id = link.target; id; id = linked(*id).after) {
    if (*id == link.source) {
      throw PlateError(where + " closes a cycle: links lead from a slice to the next, so that a variable cannot lead " +
                       "back to itself");
    }
  }
  std::vector<Chain>& chains = edit(chains_);
  connect(*std::find_if(chains.begin(), chains.end(), [&](const Chain& c) { return c.dim == *found; }), link);
}

void FactorGraph::connect(Chain& chain, Link link) {
  chain.links.push_back(link);
  Linked& source = edit(linked_)[link.source];
  source.chain = chain.dim;
  source.after = link.target;
  Linked& target = edit(linked_)[link.target];
  target.chain = chain.dim;
  target.before = link.source;
}

std::optional<DimId> FactorGraph::linking_chain(DimId variable) const {
  const auto found = linked_->find(variable);
  if (found == linked_->end()) return std::nullopt;
  return found->second.chain;
}

}  // namespace plated
