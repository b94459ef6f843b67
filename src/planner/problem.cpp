// Reads a graph into a planner's problem.
#include "planner/problem.hpp"

#include <algorithm>

#include "base/watch.hpp"
#include "graph/barren.hpp"
#include "planner/point_ends.hpp"

namespace plated::planner {
namespace {

using base::contains;
using base::intersect;
using base::sorted;
using base::subtract;

/// Barren variables go with their conditional factors.
void drop_barren(const FactorGraph& graph, const SortedSet& asked, Problem& problem) {
  std::vector<graph::FactorSets> holders;
  for (const ProblemFactor& factor : problem.factors) {
    // Others hold the end of a chain and its variable together.
    std::optional<DimId> variable;
    if (factor.operand >= 0) variable = graph.factors()[static_cast<std::size_t>(factor.operand)].distribution_of;
    // Of an observed variable, nothing sums to one.
    if (variable && contains(factor.observed, *variable)) variable.reset();
    holders.push_back({factor.variables, factor.plates, variable});
  }
  // An empty sum is zero, whatever was declared.
  const std::vector<bool> named = graph::named_along_chains(graph);
  const auto kept = [&](DimId v) {
    return problem.domain[v] == 0 || contains(asked, v) || (v < named.size() && named[v]);
  };
  std::vector<bool> gone(problem.factors.size(), false);
  for (const graph::Barren& barren : graph::barren_variables(holders, problem.variable_plates, kept)) {
    gone[barren.factor] = true;
    problem.dropped.push_back(barren.variable);
  }
  std::vector<ProblemFactor> rest;
  for (std::size_t f = 0; f < problem.factors.size(); ++f) {
    if (!gone[f]) rest.push_back(std::move(problem.factors[f]));
  }
  problem.factors = std::move(rest);
  std::sort(problem.dropped.begin(), problem.dropped.end());
}

/// Takes observed variables out of a factor.
void observe(const FactorGraph& graph, const Observations& observations, const SortedSet& unit, ProblemFactor& factor) {
  for (const auto& [variable, observation] : observations) {
    if (!contains(factor.carried, variable)) continue;
    factor.observed.push_back(variable);
    const SortedSet axes = subtract(sorted(index_axes(graph, variable, observation)), unit);
    factor.carried = base::unite(subtract(factor.carried, {variable}), axes);
  }
}

}  // namespace

std::vector<DimId> index_axes(const FactorGraph& graph, DimId variable, const Observation& observation) {
  std::vector<DimId> axes = graph.factors()[observation.operand].dims;
  std::erase_if(
      axes, [&](DimId d) { return d == variable || (!observation.batched && graph.dims()[d].kind == DimKind::batch); });
  return axes;
}

double Problem::nominal_size(DimId d) const {
  constexpr double slices = 64;
  return kind[d] == DimKind::variable ? static_cast<double>(domain[d]) : slices;
}

Problem read_problem(const FactorGraph& graph, const ReadingOptions& options, const std::set<std::string>& without) {
  Problem problem;
  problem.filtered = options.filtered;
  problem.left_out_of = options.left_out_of;
  const std::size_t dims = graph.dims().size();
  SortedSet& unit = problem.absent;
  for (DimId d = 0; d < dims; ++d) {
    const bool variable = graph.dims()[d].kind == DimKind::variable;
    problem.domain.push_back(variable ? graph.dims()[d].size : 0);
    problem.kind.push_back(graph.dims()[d].kind);
    if (!variable && options.fixed_sizes) problem.fixed.push_back(d);
    const bool known = variable || (options.fixed_sizes && problem.kind[d] != DimKind::chain);
    const bool drops = !without.contains("drop_unit_dims") && !contains(options.weighted, d);
    // Filtered marginals need the order of slices, even where what is linked has one state.
    const bool gives_order = options.filtered && graph.linking_chain(d) == options.filtered;
    if (known && graph.dims()[d].size == 1 && drops && !gives_order) unit.push_back(d);
  }
  const auto in_empty_plate = [&](const SortedSet& plates) {
    return options.fixed_sizes && std::any_of(plates.begin(), plates.end(), [&](DimId b) {
             return graph.dims()[b].size == 0 && problem.kind[b] != DimKind::chain;
           });
  };
  const std::vector<std::vector<DimId>> plates_of = graph.variable_plates();
  SortedSet alive;  // variables that exist, have more than one state and are not observed
  for (DimId v = 0; v < dims; ++v) {
    problem.variable_plates.push_back(subtract(plates_of[v], unit));
    const bool observed = options.observations.contains(v);
    if (problem.kind[v] == DimKind::variable && !observed && !contains(unit, v) && !in_empty_plate(plates_of[v])) {
      alive.push_back(v);
    }
  }
  for (const Chain& chain : graph.chains()) {
    for (const Link& link : chain.links) {
      if (!contains(alive, link.source)) continue;
      problem.links.push_back({.chain = chain.dim,
                               .source = link.source,
                               .target = link.target,
                               .first = graph.find(first(graph.dims()[link.source].name)),
                               .last = graph.find(last(graph.dims()[link.target].name))});
    }
  }
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    base::check_wanted();
    const SortedSet plates = graph.factor_plates(f);
    const bool is_index = std::any_of(options.observations.begin(), options.observations.end(),
                                      [&](const auto& each) { return each.second.operand == f; });
    if (is_index || in_empty_plate(plates)) continue;
    ProblemFactor factor;
    factor.operand = static_cast<std::int64_t>(f);
    factor.variables = intersect(graph.factor_variables(f), alive);
    factor.plates = subtract(plates, unit);
    factor.carried = subtract(sorted(graph.factors()[f].dims), unit);
    observe(graph, options.observations, unit, factor);
    problem.factors.push_back(std::move(factor));
  }
  SortedSet asked;
  for (const Output& written : graph.outputs()) {
    ProblemOutput output;
    const SortedSet written_dims = sorted(written.dims);
    output.empty = std::any_of(written.dims.begin(), written.dims.end(), [&](DimId d) {
      return (problem.kind[d] == DimKind::variable || options.fixed_sizes) && graph.dims()[d].size == 0;
    });
    output.variables = intersect(written_dims, alive);
    for (const DimId v : output.variables) output.plates = base::unite(output.plates, problem.variable_plates[v]);
    asked.insert(asked.end(), output.variables.begin(), output.variables.end());
    problem.outputs.push_back(std::move(output));
  }
  place_point_ends(graph, problem);
  for (const ProblemLink& link : problem.links) asked.insert(asked.end(), {link.source, link.target});
  for (const Dim& dim : graph.dims()) {
    if (dim.end != End::none) asked.push_back(dim.of);
  }
  asked = sorted(std::move(asked));
  if (options.sums_only && !without.contains("drop_barren")) drop_barren(graph, asked, problem);

  SortedSet held = problem.dropped;
  for (const ProblemFactor& factor : problem.factors)
    held.insert(held.end(), factor.variables.begin(), factor.variables.end());
  held = sorted(std::move(held));
  for (const DimId v : subtract(alive, held)) {
    if (graph.dims()[v].end != End::none) continue;  // another name of a variable, which is held
    problem.factors.push_back({.operand = -1, .variables = {v}, .plates = problem.variable_plates[v], .carried = {v}});
  }
  return problem;
}

}  // namespace plated::planner
