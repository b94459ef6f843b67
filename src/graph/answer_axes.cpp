// Orders axes.
#include "graph/answer_axes.hpp"

#include <algorithm>
#include <set>

#include "graph/derived.hpp"

namespace plated::graph {

std::vector<DimId> batch_axes(const FactorGraph& graph) {
  std::vector<DimId> list;
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    if (graph.dims()[d].kind == DimKind::batch) list.push_back(d);
  }
  return list;
}

AnswerAxes::AnswerAxes(const FactorGraph& graph) : batch_(batch_axes(graph)), plates_(graph.variable_plates()) {
  for (const Dim& dim : graph.dims()) kind_.push_back(dim.kind);
  for (std::vector<DimId>& plates : plates_) {
    std::stable_partition(plates.begin(), plates.end(), [&](DimId d) { return kind_[d] == DimKind::plate; });
  }
}

std::vector<DimId> AnswerAxes::operator()(DimId variable, bool states) const {
  std::vector<DimId> axes;
  put(variable, axes);
  if (!states) axes.pop_back();
  return axes;
}

void AnswerAxes::put(DimId variable, std::vector<DimId>& axes) const {
  axes.assign(batch_.begin(), batch_.end());
  axes.insert(axes.end(), plates_[variable].begin(), plates_[variable].end());
  axes.push_back(variable);
}

std::vector<DimId> AnswerAxes::operator()(const std::vector<DimId>& variables) const {
  std::vector<DimId> plates;
  for (const DimId v : variables) plates.insert(plates.end(), plates_[v].begin(), plates_[v].end());
  return of(plates, variables);
}

std::vector<DimId> AnswerAxes::of(const std::vector<DimId>& plates, const std::vector<DimId>& variables) const {
  const std::set<DimId> of_plates(plates.begin(), plates.end());
  const std::set<DimId> states(variables.begin(), variables.end());
  std::vector<DimId> axes = batch_;
  axes.insert(axes.end(), of_plates.begin(), of_plates.end());
  std::stable_partition(axes.begin(), axes.end(), [&](DimId d) { return kind_[d] != DimKind::chain; });
  axes.insert(axes.end(), states.begin(), states.end());
  return axes;
}

std::vector<DimId> variables(const FactorGraph& graph) {
  std::vector<DimId> list;
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    if (graph.dims()[d].kind == DimKind::variable && graph.dims()[d].end == End::none) list.push_back(d);
  }
  return list;
}

FactorGraph total_graph(const FactorGraph& graph) {
  if (graph.outputs().size() == 1 && is_total(graph, graph.outputs()[0])) return Derived::shared(graph);
  return graph.asking({{}});
}

bool is_total(const FactorGraph& graph, const Output& output) { return output.dims == batch_axes(graph); }

std::vector<std::string> names(const FactorGraph& graph, const std::vector<DimId>& dims) {
  std::vector<std::string> list;
  list.reserve(dims.size());
  for (const DimId d : dims) list.push_back(graph.dims()[d].name);
  return list;
}

}  // namespace plated::graph
