// Looks for slices that are not observed, and for what else must be summed over.
#include "api/observations.hpp"

#include <algorithm>
#include <optional>

#include "base/checked_size.hpp"
#include "engine/exponents.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "tensor/check_entries.hpp"

namespace plated::api {
namespace {

using planner::Observation;
using planner::Observations;

bool holds(const std::vector<DimId>& dims, DimId d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }

/// Whether all that holds a variable can be read at its states.
bool can_be_read_at(const FactorGraph& graph, DimId variable) {
  const Dim& dim = graph.dims()[variable];
  if (dim.kind != DimKind::variable || dim.end != End::none || dim.size < 2) return false;
  if (graph.linking_chain(variable)) return false;
  const auto is_end = [&](DimId d) { return graph.dims()[d].end != End::none; };
  const bool has_end = std::any_of(graph.dims().begin(), graph.dims().end(),
                                   [&](const Dim& other) { return other.end != End::none && other.of == variable; });
  return !has_end && std::none_of(graph.factors().begin(), graph.factors().end(), [&](const Factor& factor) {
    return holds(factor.dims, variable) && std::any_of(factor.dims.begin(), factor.dims.end(), is_end);
  });
}

/// Whether a single slice of a single factor holds each slice of a variable, and no other variable that is read at.
bool is_alone(const FactorGraph& graph, DimId variable, const Observations& observations) {
  std::optional<std::size_t> holder;
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    if (!holds(graph.factors()[f].dims, variable)) continue;
    if (holder) return false;
    holder = f;
  }
  if (!holder || graph.factor_plates(*holder) != graph.variable_plates()[variable]) return false;
  const std::vector<DimId>& dims = graph.factors()[*holder].dims;
  return std::none_of(dims.begin(), dims.end(), [&](DimId d) { return observations.contains(d); });
}

/// Keeps those that can be read at, where some may be partly observed.
Observations admitted(const FactorGraph& graph, const Observations& all) {
  Observations result;
  for (const bool partial : {false, true}) {
    for (const auto& [variable, observation] : all) {
      if (observation.partial != partial || !can_be_read_at(graph, variable)) continue;
      if (partial && !is_alone(graph, variable, result)) continue;
      result.emplace(variable, observation);
    }
  }
  return result;
}

}  // namespace

Observations observations_of(const FactorGraph& graph, const graph::AnswerAxes& axes_of,
                             const std::vector<DimId>& observable, const planner::Extents& extents,
                             const engine::RaggedDims& lengths, const IntegersByName& evidence) {
  Observations all;
  if (evidence.empty()) return all;
  const std::size_t batch = axes_of.batch().size();
  for (std::size_t k = 0; k < observable.size(); ++k) {
    const auto found = evidence.find(graph.dims()[observable[k]].name);
    if (found == evidence.end() || found->second.shape().empty()) continue;
    const IntegerView& values = found->second;
    std::vector<DimId> axes = axes_of(observable[k], false);
    const bool batched = values.shape() == planner::sizes(extents, axes);
    if (!batched) axes.erase(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(batch));
    // What has another shape is refused later.
    const auto count = static_cast<std::size_t>(planner::elements(extents, axes));
    if (values.shape() != planner::sizes(extents, axes) || values.size() != count) continue;
    Observation observation{.operand = graph.factors().size() + k, .batched = batched && batch > 0};
    observation.partial = tensor::range_of(values).least < 0;
    if (observation.partial && !lengths.empty()) {
      const std::vector<double> exist =
          engine::product_over(extents, engine::exponents_of(graph, extents, lengths), axes);
      observation.partial = false;
      for (std::size_t c = 0; c < count; ++c) {
        observation.partial = observation.partial || (values[c] == -1 && exist[c % exist.size()] != 0);
      }
    }
    all.emplace(observable[k], observation);
  }
  return admitted(graph, all);
}

Observations observations_of(const FactorGraph& graph, const graph::AnswerAxes& axes_of,
                             const std::vector<DimId>& observable, const std::vector<std::string>& observed,
                             const std::vector<std::string>& partly_observed) {
  Observations all;
  const bool batched = !axes_of.batch().empty();
  for (const bool partial : {false, true}) {
    for (const std::string& name : partial ? partly_observed : observed) {
      const auto v = graph.find(name);
      const auto place = v ? std::find(observable.begin(), observable.end(), *v) : observable.end();
      if (place == observable.end()) {
        throw UnknownNameError("a question says that " + graph::quoted(name) +
                               " is observed, and the plan has no such observable variable");
      }
      if (axes_of(*v, false).empty()) continue;
      const auto k = static_cast<std::size_t>(place - observable.begin());
      all.insert_or_assign(*v,
                           Observation{.operand = graph.factors().size() + k, .batched = batched, .partial = partial});
    }
  }
  return admitted(graph, all);
}

Observations observations_for(const adjoint::Asked& asked, const FactorGraph& graph, Observations observations) {
  using Kind = adjoint::Asked::Kind;
  if (observations.empty()) return observations;
  if (asked.kind == Kind::leave_one_out && graph.dims()[asked.plate].kind == DimKind::chain) return {};
  const auto keep_apart = [&](const std::vector<DimId>& axes) {
    for (const DimId d : axes) observations.erase(d);
  };
  if (asked.kind == Kind::outputs && !asked.own_outputs) {
    for (const std::vector<DimId>& axes : asked.axes) keep_apart(axes);
  } else if (asked.kind == Kind::outputs || (asked.kind != Kind::choices && asked.forward != adjoint::Forward::total)) {
    for (const Output& output : graph.outputs()) keep_apart(output.dims);
  }
  return observations;
}

}  // namespace plated::api
