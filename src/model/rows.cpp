// Gives a model observations in rows, and refuses those that do not fit.
#include "model/rows.hpp"

#include <algorithm>

#include "base/sorted_set.hpp"
#include "graph/spell.hpp"
#include "model/unknown_name.hpp"
#include "plated/error.hpp"
#include "tensor/check_entries.hpp"

namespace plated {
namespace model {
namespace {

using base::SortedSet;

/// The factor that is the variable's distribution, if no other holds it, or why there is none.
struct Holder {
  std::optional<std::size_t> factor;
  const char* why = "";
};
Holder only_holder(const Model& model, DimId variable) {
  const std::vector<Factor>& factors = model.graph.factors();
  std::optional<std::size_t> holder;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const auto times = std::count(factors[f].dims.begin(), factors[f].dims.end(), variable);
    if (times == 0) continue;
    if (holder || times > 1) return {.factor = {}, .why = "more than its own distribution holds it"};
    holder = f;
  }
  if (!holder || model.children[*holder] != model.graph.dims()[variable].name) {
    return {.factor = {}, .why = "it has no factor that is its distribution"};
  }
  if (model.graph.factor_plates(*holder) != model.graph.variable_plates()[variable]) {
    return {.factor = {}, .why = "its distribution is in other plates"};
  }
  if (model.graph.linking_chain(variable)) return {.factor = {}, .why = "a chain links it"};
  const auto is_end = [&](const Dim& dim) { return dim.end != End::none && dim.of == variable; };
  if (std::any_of(model.graph.dims().begin(), model.graph.dims().end(), is_end)) {
    return {.factor = {}, .why = "a factor holds an end of it"};
  }
  return {.factor = holder};
}

/// The plates of the other variables of a factor.
SortedSet parents_plates(const FactorGraph& graph, std::size_t factor, DimId child) {
  SortedSet plates;
  for (const DimId v : graph.factor_variables(factor)) {
    if (v != child) plates = base::unite(plates, graph.variable_plates()[v]);
  }
  return plates;
}

}  // namespace

void check_rows(const Model& model, DimId variable, const Long& list) {
  const Dim& dim = model.graph.dims()[variable];
  tensor::check_states(list.states, dim.name, dim.size);
  for (const auto& [name, slices] : list.slices) {
    const std::int64_t size = model.graph.dims()[*model.graph.find(name)].size;
    const tensor::Range range = tensor::range_of(slices);
    if (slices.size() == 0 || (range.least >= 0 && range.most < size)) continue;
    for (std::size_t r = 0; r < slices.size(); ++r) {
      if (slices[r] >= 0 && slices[r] < size) continue;
      throw ValueError("row " + std::to_string(r) + " of the data of " + graph::quoted(dim.name) + " is about slice " +
                       std::to_string(slices[r]) + " of " + graph::quoted(name) + ", which has " +
                       std::to_string(size));
    }
  }
}

std::size_t holder_of(const Model& model, DimId variable) { return *only_holder(model, variable).factor; }

std::vector<DimId> plates_of_parents(const Model& model, DimId variable) {
  return parents_plates(model.graph, holder_of(model, variable), variable);
}

bool can_be_listed(const Model& model, DimId variable) { return only_holder(model, variable).factor.has_value(); }

DimId listed_variable(const Model& model, std::string_view variable, const Long& list) {
  const auto found = find_variable(model, variable);
  if (!found) fail_without_variable(model, variable, "to observe");
  const FactorGraph& graph = model.graph;
  if (const Holder holder = only_holder(model, *found); !holder.factor) {
    throw OptionError("the data of " + graph::quoted(variable) + " cannot be a list: " + holder.why);
  }
  const std::vector<DimId>& plates = graph.variable_plates()[*found];
  const std::string whose = "the data of " + graph::quoted(variable);
  for (const DimId plate : plates) {
    const std::string& name = graph.dims()[plate].name;
    if (list.slices.contains(name)) continue;
    throw ShapeError(whose + " do not say which slice of " + graph::quoted(name) + " a row is about");
  }
  if (list.states.shape().size() != 1) throw ShapeError(whose + " are a list, whose states have one axis");
  for (const auto& [name, slices] : list.slices) {
    const auto plate = graph.find(name);
    if (!plate || !std::binary_search(plates.begin(), plates.end(), *plate)) {
      throw UnknownNameError(whose + " say slices of " + graph::quoted(name) + ", and it is in no such plate");
    }
    if (slices.shape() != list.states.shape()) {
      throw ShapeError(whose + " have " + graph::as_shape(list.states.shape()) + " states, and " +
                       graph::as_shape(slices.shape()) + " slices of " + graph::quoted(name));
    }
  }
  return *found;
}

}  // namespace model

void observe(Model& model, std::string_view variable, const Long& list) {
  const DimId v = model::listed_variable(model, variable, list);
  model::check_rows(model, v, list);
  const std::string& name = model.graph.dims()[v].name;
  model.evidence.erase(name);
  model.lists.insert_or_assign(name, list);
  model.observed.insert(name);
}

}  // namespace plated
