// Leave-one-out predictive densities of models.
#include <algorithm>

#include "graph/spell.hpp"
#include "model/rows.hpp"
#include "model/unknown_name.hpp"
#include "plated/error.hpp"
#include "solve/solver.hpp"

namespace plated {
namespace {

/// Throws unless the graph has a plate of that name, or a chain with those factors.
void check_left_out(const FactorGraph& graph, std::string_view plate, const std::vector<std::string>& factors) {
  const auto found = graph.find(plate);
  if (!found || !has_slices(graph.dims()[*found].kind)) {
    std::vector<std::string> plates;
    for (const Dim& dim : graph.dims()) {
      if (has_slices(dim.kind)) plates.push_back(dim.name);
    }
    throw UnknownNameError("there is no plate or chain " + graph::quoted(plate) +
                           " to leave slices of out; the model has " +
                           (plates.empty() ? "none" : model::listed(plates)));
  }
  if (graph.dims()[*found].kind != DimKind::chain) {
    if (factors.empty()) return;
    throw OptionError("factors to leave out are named for a chain, and " + graph::quoted(plate) +
                      " is a plate: whole slices of it are left out");
  }
  std::vector<std::string> inside;
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    if (graph::contains(graph.factor_plates(f), *found)) inside.push_back(graph.factors()[f].name);
  }
  const std::string legal = inside.empty() ? "none is in it" : "those in it are " + model::listed(inside);
  if (factors.empty()) {
    throw OptionError(graph::quoted(plate) + " is a chain: name the factors that are left out of a slice; " + legal);
  }
  for (const std::string& factor : factors) {
    if (std::find(inside.begin(), inside.end(), factor) != inside.end()) continue;
    throw UnknownNameError("there is no factor " + graph::quoted(factor) + " in chain " + graph::quoted(plate) +
                           " to leave out; " + legal);
  }
}

/// Rows are multiplied by the slices of their parents' plates.
void check_told_apart(const Model& model, std::string_view plate) {
  for (const auto& [name, rows] : model.lists) {
    if (!rows.slices.contains(std::string(plate))) continue;
    const std::vector<DimId> of_groups = model::plates_of_parents(model, *model.graph.find(name));
    if (graph::contains(of_groups, *model.graph.find(plate))) continue;
    throw OptionError("the evidence of " + graph::quoted(name) + " is a list of rows, and no parent of it is in " +
                      graph::quoted(plate) + ": to leave its slices out, give it as an array");
  }
}

/// What is read before the rest is planned is multiplied over plates that no parent is in.
reduce::Reading reading_with(const Model& model, DimId plate) {
  const FactorGraph& graph = model.graph;
  const std::vector<std::vector<DimId>>& plates = graph.variable_plates();
  for (DimId v = 0; v < graph.dims().size(); ++v) {
    if (graph.dims()[v].kind != DimKind::variable || !graph::contains(plates[v], plate)) continue;
    const auto holder = reduce::read_in_place_at(model, v);
    if (!holder) continue;
    const std::vector<DimId> all = graph.factor_variables(*holder);
    const auto tells = [&](DimId other) { return other != v && graph::contains(plates[other], plate); };
    if (std::none_of(all.begin(), all.end(), tells)) return reduce::Reading::absorbed;
  }
  return reduce::Reading::in_place;
}

}  // namespace

Tensor leave_one_out(const Model& model, std::string_view plate, const SolveOptions& options,
                     const std::vector<std::string>& factors) {
  check_left_out(model.graph, plate, factors);
  check_told_apart(model, plate);
  solve::Solver solver(model, options, reading_with(model, *model.graph.find(plate)));
  // Only factors without plates drop states: what is impossible stays so without a slice.
  solver.check_possible();
  solver.take_messages([&](DimId v) { return solver.is_known(v); });
  return leave_one_out(solver.plan(false), solver.factors(), plate, solver.run_options(), factors);
}

}  // namespace plated
