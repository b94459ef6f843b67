// Checks lengths.
#include "api/chained.hpp"

#include <algorithm>

#include "base/checked_size.hpp"
#include "engine/check_operands.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "tensor/check_entries.hpp"

namespace plated::api {
namespace {

using graph::quoted;

const Chain& chain_named(const FactorGraph& graph, const std::string& name) {
  const auto dim = graph.find(name);
  for (const Chain& chain : graph.chains()) {
    if (dim && chain.dim == *dim) {
      if (!chain.links.empty()) return chain;
      throw OptionError("lengths are given for chain " + quoted(name) + ", which links nothing: make it a plate");
    }
  }
  if (dim && graph.dims()[*dim].kind == DimKind::plate) {
    throw OptionError("lengths are given for plate " + quoted(name) +
                      ", and the model has chains: its plates have all their slices so far");
  }
  throw UnknownNameError("lengths are given for " + quoted(name) + ", and the model has no such chain");
}

/// A factor of the chain that lacks plates of its linked variables has no length to go by.
void check_joined(const PlanImpl& plan, const chain::Program& program, const Chain& checked) {
  const DimId chain = checked.dim;
  const base::SortedSet linked = program.graph().variable_plates()[checked.links[0].source];
  std::vector<bool> joined(plan.observed.factors().size(), false);
  for (const chain::Piece& piece : program.pieces().pieces) {
    for (const std::size_t f : piece.factors) {
      // In a piece of a chain around this one, its slices are eliminated with that one's.
      if (f >= joined.size()) continue;
      if (piece.chain == chain || base::is_subset(linked, plan.observed.factor_plates(f))) joined[f] = true;
    }
  }
  for (std::size_t f = 0; f < joined.size(); ++f) {
    const std::vector<DimId> plates = plan.observed.factor_plates(f);
    if (joined[f] || std::find(plates.begin(), plates.end(), chain) == plates.end()) continue;
    throw OptionError("factor " + quoted(plan.observed.factors()[f].name) + " of chain " +
                      quoted(plan.graph.dims()[chain].name) +
                      " lacks plates of its linked variables, and is joined to none of them, so that lengths cannot "
                      "apply to it");
  }
}

}  // namespace

std::shared_ptr<const chain::Program> total_program(const PlanImpl& plan) {
  return plan.chains->part("total", [&] { return graph::total_graph(plan.observed); });
}

engine::RaggedDims ragged_chains(const PlanImpl& plan, const Lengths& lengths) {
  engine::RaggedDims result;
  const FactorGraph& graph = plan.graph;
  for (const auto& [name, given] : lengths) {
    const Chain& chain = chain_named(graph, name);
    std::vector<DimId> dims = plan.axes(chain.links[0].source, false);
    for (const Link& link : chain.links) {
      if (plan.axes(link.source, false) != dims) {
        throw OptionError("the variables that chain " + quoted(name) +
                          " links live in different plates, so that its "
                          "lengths have no shape");
      }
    }
    std::erase(dims, chain.dim);
    const std::vector<std::int64_t> shape = engine::sizes(graph, dims);
    const auto batch = static_cast<std::ptrdiff_t>(graph::batch_axes(graph).size());
    const std::vector<std::int64_t> plates(shape.begin() + batch, shape.end());
    if (given.shape != shape && given.shape != plates) {
      throw ShapeError("the lengths of chain " + quoted(name) + " have the shape " + engine::shape_text(given.shape) +
                       ", but the plates of its linked variables have " + engine::shape_text(plates) +
                       (batch > 0 ? ", or with batch dims " + engine::shape_text(shape) : ""));
    }
    if (static_cast<std::int64_t>(given.values.size()) != base::checked_product(given.shape)) {
      throw ShapeError("the lengths of chain " + quoted(name) + " have " + std::to_string(given.values.size()) +
                       " values, but their shape " + engine::shape_text(given.shape) + " has another number");
    }
    const std::int64_t size = graph.dims()[chain.dim].size;
    tensor::check_entries(given, 0, size, "chain " + quoted(name) + " has the length",
                          "and its lengths are 0 … " + std::to_string(size));
    if (given.shape != shape) dims.erase(dims.begin(), dims.begin() + batch);
    result[chain.dim] = {.dims = dims, .sizes = engine::sizes(graph, dims), .values = given.values};
  }
  if (result.empty()) return result;
  engine::end_inner(result);
  const chain::Program& program = plan.chains->sliced().for_lengths({.settings = {}, .lengths = &result});
  for (const auto& [name, given] : lengths) check_joined(plan, program, chain_named(graph, name));
  return result;
}

}  // namespace plated::api
