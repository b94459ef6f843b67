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

Derived::Derived(const FactorGraph& original) : original_(original) {
  graph_.dims_ = original.dims_;
  graph_.by_name_ = original.by_name_;
  for (Dim& dim : graph_.edit(graph_.dims_)) {
    dim.kind = DimKind::variable;
    dim.size = 1;
  }
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

void Derived::put_factor(FactorGraph& graph, std::size_t index, Factor factor) {
  std::vector<Factor>& factors = graph.edit(graph.factors_);
  if (index == factors.size()) factors.emplace_back();
  factors[index] = std::move(factor);
}

void Derived::become(DimId dim, DimKind kind) {
  Dim& changed = graph_.edit(graph_.dims_)[dim];
  changed.kind = kind;
  changed.size = original_.dims()[dim].size;
}

void Derived::variable(DimId dim, std::vector<DimId> plates) {
  become(dim, DimKind::variable);
  std::sort(plates.begin(), plates.end());
  graph_.edit(graph_.stated_plates_)[dim] = std::move(plates);
}

void Derived::factor(std::string name, std::vector<DimId> dims, std::vector<DimId> tied) {
  Factor factor;
  factor.name = std::move(name);
  factor.dims = std::move(dims);
  factor.tied = std::move(tied);
  graph_.edit(graph_.factors_).push_back(std::move(factor));
}

}  // namespace plated::graph
