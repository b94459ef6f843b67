// Finds variables and states by the names of the graph or of the file.
#include <algorithm>

#include "base/whole_integer.hpp"
#include "graph/spell.hpp"
#include "model/unknown_name.hpp"
#include "plated/error.hpp"
#include "plated/model.hpp"

namespace plated {

std::optional<DimId> find_variable(const Model& model, std::string_view name) {
  auto found = model.graph.find(name);
  if (!found) {
    for (const auto& [variable, label] : model.labels) {
      if (label == name) found = model.graph.find(variable);
    }
  }
  if (!found) return std::nullopt;
  const Dim& dim = model.graph.dims()[*found];
  return dim.kind == DimKind::variable && dim.end == End::none ? found : std::nullopt;
}

std::int64_t state_named(const Model& model, std::string_view variable, std::string_view state) {
  const auto id = find_variable(model, variable);
  if (!id) throw UnknownNameError("there is no variable " + graph::quoted(variable));
  const Dim& dim = model.graph.dims()[*id];
  const auto names = model.states.find(dim.name);
  const bool named = names != model.states.end();
  if (named) {
    const auto found = std::find(names->second.begin(), names->second.end(), state);
    if (found != names->second.end()) return found - names->second.begin();
  }
  const auto number = base::whole_integer(state);
  if (number && *number >= 0 && *number < dim.size) return *number;
  throw UnknownNameError(graph::quoted(dim.name) + " has no state " + graph::quoted(state) + ": its states are " +
                         (named ? model::listed(names->second) : "0 … " + std::to_string(dim.size - 1)));
}

}  // namespace plated
