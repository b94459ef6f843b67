// Resolves names to dims.
#include "graph/resolver.hpp"

#include <algorithm>

#include "graph/ends.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"

namespace plated::graph {

Mention Resolver::read(std::string_view name) const {
  const SplitName split = split_end(name);
  if (is_end(split.variable)) {
    throw ParseError(quoted(name) + " in " + where_ + " is two ends at once: write '^v' or 'v$'");
  }
  if (const auto id = graph_.find(split.variable)) return {*id, split.end};
  throw UnknownNameError("unknown dim " + quoted(split.variable) + " in " + where_);
}

std::vector<DimId> Resolver::resolve(const std::vector<Mention>& mentions, const std::vector<DimId>& tied) const {
  std::vector<DimId> chains;
  const auto note = [&](DimId dim) {
    if (graph_.dims()[dim].kind == DimKind::chain) chains.push_back(dim);
  };
  for (const Mention& mention : mentions) note(mention.dim);
  for (const DimId dim : tied) note(dim);
  std::vector<DimId> dims;
  for (const Mention& mention : mentions) dims.push_back(meant(mention, chains));
  return dims;
}

DimId Resolver::meant(const Mention& mention, const std::vector<DimId>& chains) const {
  const Dim& dim = graph_.dims()[mention.dim];
  if (dim.kind != DimKind::variable) {
    if (mention.end == End::none) return mention.dim;
    throw PlateError(quoted(with_end(dim.name, mention.end)) + " in " + where_ + ": " + quoted(dim.name) + " is a " +
                     kind_name(dim.kind) + ", and only variables have a first and a last slice's");
  }
  const auto linked = graph_.linked_->find(mention.dim);
  // Whether an unlinked variable lives in a chain at all is known when all factors are: variable_plates() checks.
  if (linked == graph_.linked_->end()) return mention.end == End::none ? mention.dim : end_of(mention.dim, mention.end);

  const std::string chain = quoted(graph_.dims()[linked->second.chain].name);
  const bool inside = std::find(chains.begin(), chains.end(), linked->second.chain) != chains.end();
  if (inside) {
    if (mention.end == End::none) return mention.dim;
    throw PlateError(quoted(with_end(dim.name, mention.end)) + " in " + where_ + ", which is inside chain " + chain +
                     ": write " + quoted(dim.name) + " for the slice's own, or leave " + chain +
                     " out to hold the chain's end");
  }
  if (mention.end != End::none) return end_of(mention.dim, mention.end);
  const bool source = linked->second.after.has_value();
  const bool target = linked->second.before.has_value();
  if (source && target) {
    throw PlateError("variable " + quoted(dim.name) + " in " + where_ + " could be the first or the last slice's: " +
                     "outside of chain " + chain + ", which links to it and from it, write " + quoted(first(dim.name)) +
                     " or " + quoted(last(dim.name)));
  }
  return end_of(mention.dim, source ? End::first : End::last);
}

DimId Resolver::end_of(DimId variable, End end) const {
  const std::string name = with_end(graph_.dims()[variable].name, end);
  if (const auto known = graph_.find(name)) return *known;
  const DimId id = graph_.declare(name, DimKind::variable, graph_.dims()[variable].size);
  Dim& dim = graph_.edit(graph_.dims_)[id];
  dim.end = end;
  dim.of = variable;
  return id;
}

}  // namespace plated::graph
