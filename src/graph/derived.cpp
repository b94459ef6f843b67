// Derives graphs.
#include "graph/derived.hpp"

#include <algorithm>

namespace plated::graph {

FactorGraph Derived::shared(const FactorGraph& graph) {
  FactorGraph result;
  result.dims_ = graph.dims_.shared();
  result.chains_ = graph.chains_;
  result.factors_ = graph.factors_.shared();
  result.factor_names_ = graph.factor_names_;
  result.outputs_ = graph.outputs_;
  result.by_name_ = graph.by_name_;
  result.stated_plates_ = graph.stated_plates_;
  result.linked_ = graph.linked_;
  result.known_plates_ = graph.known_plates_;
  return result;
}

Derived::Derived(const FactorGraph& original) : original_(original), mentioned_(original.dims().size(), false) {
  graph_.dims_ = original.dims_;
  graph_.by_name_ = original.by_name_;
  for (Dim& dim : graph_.edit(graph_.dims_)) {
    dim.kind = DimKind::variable;
    dim.size = 1;
    dim.end = End::none;
  }
}

DimId Derived::end_of(FactorGraph& graph, DimId variable, End end) {
  const std::string name = end == End::first ? first(graph.dims()[variable].name) : last(graph.dims()[variable].name);
  if (const auto known = graph.find(name)) return *known;
  const DimId id = graph.declare(name, DimKind::variable, graph.dims()[variable].size);
  Dim& dim = graph.edit(graph.dims_)[id];
  dim.end = end;
  dim.of = variable;
  return id;
}

void Derived::state_plates(FactorGraph& graph, const std::vector<std::vector<DimId>>& plates) {
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    const Dim& dim = graph.dims()[d];
    if (dim.kind != DimKind::variable || dim.end != End::none) continue;
    const auto stated = graph.stated_plates_->find(d);
    if (stated == graph.stated_plates_->end() || stated->second != plates[d]) {
      graph.edit(graph.stated_plates_)[d] = plates[d];
    }
  }
}

void Derived::free_end(FactorGraph& graph, DimId end, std::vector<DimId> plates) {
  graph.edit(graph.dims_)[end].end = End::none;
  graph.edit(graph.stated_plates_)[end] = std::move(plates);
}

void Derived::put_factor(FactorGraph& graph, std::size_t index, Factor factor) {
  std::vector<Factor>& factors = graph.edit(graph.factors_);
  if (index == factors.size()) factors.emplace_back();
  factors[index] = std::move(factor);
}

void Derived::become(DimId dim, DimKind kind, std::int64_t size) {
  Dim& changed = graph_.edit(graph_.dims_)[dim];
  changed.kind = kind;
  changed.size = size;
  mentioned_[dim] = true;
}

void Derived::batch(DimId dim, std::int64_t size) { become(dim, DimKind::batch, size); }

void Derived::plate(DimId dim) { become(dim, DimKind::plate, original_.dims()[dim].size); }

void Derived::chain(DimId dim) {
  if (mentioned_[dim]) return;
  become(dim, DimKind::chain, original_.dims()[dim].size);
  const auto known = std::find_if(original_.chains_.begin(), original_.chains_.end(),
                                  [&](const Chain& chain) { return chain.dim == dim; });
  Chain& chain = graph_.edit(graph_.chains_).emplace_back(Chain{dim, {}});
  for (const Link& link : known->links) graph_.connect(chain, link);
}

void Derived::variable(DimId dim, std::vector<DimId> plates) {
  become(dim, DimKind::variable, original_.dims()[dim].size);
  // Ends of a chain that is still one follow its variables; others are variables like any other.
  const Dim& before = original_.dims()[dim];
  if (before.end != End::none) {
    const auto chain = original_.linking_chain(before.of);
    if (chain && graph_.dims()[*chain].kind == DimKind::chain) {
      graph_.edit(graph_.dims_)[dim].end = before.end;
      return;
    }
  }
  std::sort(plates.begin(), plates.end());
  graph_.edit(graph_.stated_plates_)[dim] = std::move(plates);
}

std::size_t Derived::factor(std::string name, std::vector<DimId> dims, std::vector<DimId> tied) {
  Factor factor;
  factor.name = std::move(name);
  factor.dims = std::move(dims);
  factor.tied = std::move(tied);
  graph_.edit(graph_.factors_).push_back(std::move(factor));
  return graph_.factors().size() - 1;
}

FactorGraph Derived::finish() && {
  for (Chain& chain : graph_.edit(graph_.chains_)) {
    std::erase_if(chain.links, [&](const Link& link) { return !mentioned_[link.source] || !mentioned_[link.target]; });
    if (chain.links.empty()) graph_.edit(graph_.dims_)[chain.dim].kind = DimKind::plate;
  }
  std::erase_if(graph_.edit(graph_.chains_), [](const Chain& chain) { return chain.links.empty(); });
  // Whoever takes out a chain that is still one looks for all ends of its links, mentioned or not.
  for (DimId d = 0; d < graph_.dims().size(); ++d) {
    const Dim& before = original_.dims()[d];
    if (mentioned_[d] || before.end == End::none || !mentioned_[before.of]) continue;
    const auto chain = original_.linking_chain(before.of);
    if (chain && graph_.dims()[*chain].kind == DimKind::chain) variable(d, {});
  }
  return std::move(graph_);
}

}  // namespace plated::graph
