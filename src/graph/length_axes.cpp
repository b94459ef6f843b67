// Finds the plates that lengths depend on.
#include "graph/length_axes.hpp"

#include <algorithm>

#include "graph/answer_axes.hpp"
#include "graph/spell.hpp"

namespace plated::graph {

using base::SortedSet;

std::vector<PlateItem> items_in(const FactorGraph& graph, DimId plate) {
  std::vector<PlateItem> items;
  const auto add = [&](std::string name, const std::vector<DimId>& plates) {
    SortedSet around = base::sorted(plates);
    if (!base::contains(around, plate)) return;
    std::erase(around, plate);
    items.push_back({std::move(name), std::move(around)});
  };
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    add("factor " + quoted(graph.factors()[f].name), graph.factor_plates(f));
  }
  const std::vector<std::vector<DimId>>& plates = graph.variable_plates();
  for (const DimId v : variables(graph)) add("variable " + quoted(graph.dims()[v].name), plates[v]);
  return items;
}

SortedSet common_plates(const FactorGraph& graph, DimId plate, const std::vector<PlateItem>& items) {
  SortedSet common = items.empty() ? SortedSet{} : items[0].around;
  for (const PlateItem& item : items) common = base::intersect(common, item.around);
  for (const Chain& chain : graph.chains()) {
    const bool inside = std::any_of(chain.links.begin(), chain.links.end(), [&](const Link& link) {
      return base::contains(graph.variable_plates()[link.source], plate);
    });
    if (inside) std::erase(common, chain.dim);
  }
  return common;
}

std::vector<DimId> length_axes(const FactorGraph& graph, DimId plate) {
  const auto linking =
      std::find_if(graph.chains().begin(), graph.chains().end(), [&](const Chain& c) { return c.dim == plate; });
  if (linking != graph.chains().end() && !linking->links.empty()) {
    std::vector<DimId> axes = AnswerAxes(graph)(linking->links[0].source, false);
    std::erase(axes, plate);
    return axes;
  }
  return base::joined(batch_axes(graph), common_plates(graph, plate, items_in(graph, plate)));
}

}  // namespace plated::graph
