// Checks lengths of plates and chains.
#include "engine/lengths.hpp"

#include <algorithm>
#include <optional>

#include "base/checked_size.hpp"
#include "engine/check_operands.hpp"
#include "graph/answer_axes.hpp"
#include "graph/length_axes.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "tensor/check_entries.hpp"

namespace plated::engine {
namespace {

using base::SortedSet;
using graph::quoted;
using planner::sizes;

/// The axes that lengths of a shape have: with batch dims or without.
std::optional<std::vector<DimId>> axes_of(const FactorGraph& graph, const planner::Extents& extents,
                                          const SortedSet& plates, const std::vector<std::int64_t>& shape) {
  std::vector<DimId> axes = base::joined(graph::batch_axes(graph), plates);
  if (shape == sizes(extents, axes)) return axes;
  if (shape == sizes(extents, plates)) return plates;
  return std::nullopt;
}

std::vector<DimId> plate_length_axes(const FactorGraph& graph, const planner::Extents& extents, DimId plate,
                                     const IntegerView& given) {
  const std::string name = quoted(graph.dims()[plate].name);
  const std::vector<graph::PlateItem> items = graph::items_in(graph, plate);
  const SortedSet common = graph::common_plates(graph, plate, items);
  if (const auto axes = axes_of(graph, extents, common, given.shape())) return *axes;
  for (const graph::PlateItem& wide : items) {
    if (!axes_of(graph, extents, wide.around, given.shape())) continue;
    for (const graph::PlateItem& item : items) {
      const SortedSet lacks = base::subtract(wide.around, item.around);
      if (lacks.empty()) continue;
      throw PlateError("the lengths of plate " + name + " have the shape " + shape_text(given.shape()) + ", but " +
                       item.name + " of that plate is not in plate " + quoted(graph.dims()[lacks[0]].name) +
                       ", so that they do not say how many of its slices exist");
    }
  }
  const std::vector<DimId> batch = graph::batch_axes(graph);
  throw ShapeError(
      "the lengths of plate " + name + " have the shape " + shape_text(given.shape()) +
      ", but the plates that everything in it is in have " + shape_text(sizes(extents, common)) +
      (!batch.empty() ? ", or with batch dims " + shape_text(sizes(extents, base::joined(batch, common))) : ""));
}

/// The lengths of a chain are those of its linked variables' plates.
std::vector<DimId> chain_length_axes(const FactorGraph& graph, const planner::Extents& extents, DimId chain,
                                     const IntegerView& given) {
  const std::string name = quoted(graph.dims()[chain].name);
  const auto linking =
      std::find_if(graph.chains().begin(), graph.chains().end(), [&](const Chain& c) { return c.dim == chain; });
  if (linking->links.empty()) {
    throw OptionError("lengths are given for chain " + name + ", which links nothing: make it a plate");
  }
  SortedSet plates = graph.variable_plates()[linking->links[0].source];
  for (const Link& link : linking->links) {
    if (graph.variable_plates()[link.source] == plates) continue;
    throw OptionError("the variables that chain " + name +
                      " links live in different plates, so that its lengths have no shape");
  }
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    const SortedSet around = graph.factor_plates(f);
    if (!base::contains(around, chain) || base::is_subset(plates, around)) continue;
    throw OptionError("factor " + quoted(graph.factors()[f].name) + " of chain " + name +
                      " lacks plates of its linked variables, and is joined to none of them, so that lengths cannot "
                      "apply to it");
  }
  std::vector<DimId> batched = graph::length_axes(graph, chain);
  if (given.shape() == sizes(extents, batched)) return batched;
  const std::size_t batch = graph::batch_axes(graph).size();
  std::vector<DimId> around(batched.begin() + static_cast<std::ptrdiff_t>(batch), batched.end());
  if (given.shape() == sizes(extents, around)) return around;
  throw ShapeError("the lengths of chain " + name + " have the shape " + shape_text(given.shape()) +
                   ", but the plates of its linked variables have " + shape_text(sizes(extents, around)) +
                   (batch > 0 ? ", or with batch dims " + shape_text(sizes(extents, batched)) : ""));
}

}  // namespace

DimId plate_named(const FactorGraph& graph, const std::string& name, const char* what, bool or_chain) {
  const auto dim = graph.find(name);
  if (dim && graph.dims()[*dim].kind == DimKind::plate) return *dim;
  if (dim && or_chain && graph.dims()[*dim].kind == DimKind::chain) return *dim;
  throw UnknownNameError(std::string(what) + " are given for " + quoted(name) + ", and the model has no such plate");
}

RaggedDims ragged_plates(const FactorGraph& graph, const planner::Extents& extents, const IntegersByName& lengths) {
  RaggedDims result;
  for (const auto& [name, given] : lengths) {
    const DimId plate = plate_named(graph, name, "lengths", true);
    const bool is_chain = graph.dims()[plate].kind == DimKind::chain;
    const std::string what = (is_chain ? "chain " : "plate ") + quoted(name);
    const std::vector<DimId> axes =
        is_chain ? chain_length_axes(graph, extents, plate, given) : plate_length_axes(graph, extents, plate, given);
    if (given.data() == nullptr && base::checked_product(given.shape()) > 0) {
      throw NullDataError("the lengths of " + what + " have no data");
    }
    const std::int64_t size = extents[plate];
    tensor::check_entries(given, 0, size, what + " has the length", "and its lengths are 0 … " + std::to_string(size));
    const bool full = std::all_of(given.begin(), given.end(), [&](std::int64_t l) { return l == size; });
    if (!full) result[plate] = {.dims = axes, .sizes = sizes(extents, axes), .values = given.values()};
  }
  end_inner(result);
  return result;
}

}  // namespace plated::engine
