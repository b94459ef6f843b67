// Sorts rows by the slices of their parents' plates, and puts them into a plate of their own.
#include "model/rows.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "base/checked_size.hpp"
#include "base/sorted_set.hpp"
#include "graph/derived.hpp"
#include "graph/spell.hpp"
#include "model/sizes.hpp"
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

std::string unused_name(const FactorGraph& graph, const std::string& wanted) {
  std::string name = wanted;
  for (int k = 2; graph.find(name); ++k) name = wanted + std::to_string(k);
  return name;
}

/// Where rows go: the place of row r among those of all groups, which have `room` each. −1: nowhere.
struct Places {
  std::vector<std::int32_t> group;   // [row]
  std::vector<std::int64_t> counts;  // [group]
  std::int64_t room = 1;

  Places(const Model& model, const Long& list, const SortedSet& grouped) {
    std::int64_t groups = 1;
    std::vector<const IntegerView*> slices;
    for (const DimId plate : grouped) {
      groups = base::checked_product(groups, model.graph.dims()[plate].size);
      slices.push_back(&list.slices.at(model.graph.dims()[plate].name));
    }
    if (groups > std::numeric_limits<std::int32_t>::max()) {
      throw SizeError("rows are about " + std::to_string(groups) +
                      " slices of their parents' plates, which is too many");
    }
    counts.assign(static_cast<std::size_t>(groups), 0);
    group.resize(list.states.size());
    for (std::size_t r = 0; r < group.size(); ++r) {
      std::int64_t at = 0;
      for (std::size_t k = 0; k < slices.size(); ++k) at = at * model.graph.dims()[grouped[k]].size + (*slices[k])[r];
      group[r] = list.states[r] < 0 ? -1 : static_cast<std::int32_t>(at);
      if (group[r] >= 0) room = std::max(room, ++counts[static_cast<std::size_t>(at)]);
    }
  }

  /// Entries of rows in the order of their groups: numbers below `count`, in as few bytes as these take.
  [[nodiscard]] IntegerView sorted(const IntegerView& entries, std::vector<std::int64_t> shape,
                                   std::int64_t count) const {
    shape.push_back(room);
    const auto fits = [&]<class T>(T) { return count <= std::numeric_limits<T>::max(); };
    if (fits(std::int8_t{})) return sorted_as<std::int8_t>(entries, shape);
    if (fits(std::int16_t{})) return sorted_as<std::int16_t>(entries, shape);
    if (fits(std::int32_t{})) return sorted_as<std::int32_t>(entries, shape);
    return sorted_as<std::int64_t>(entries, shape);
  }

 private:
  template <class T>
  [[nodiscard]] IntegerView sorted_as(const IntegerView& entries, const std::vector<std::int64_t>& shape) const {
    const auto kept = std::make_shared<std::vector<T>>(
        static_cast<std::size_t>(std::max<std::int64_t>(1, base::checked_product(shape))));
    std::vector<std::int32_t> next(counts.size(), 0);
    for (std::size_t r = 0; r < group.size(); ++r) {
      if (group[r] < 0) continue;
      const std::int64_t at = group[r] * room + next[static_cast<std::size_t>(group[r])]++;
      (*kept)[static_cast<std::size_t>(at)] = static_cast<T>(entries[r]);
    }
    return IntegerView::view(kept->data(), shape).keeping(kept);
  }
};

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

namespace {

void observe_rows(Model& model, std::string_view variable, const Long& list) {
  const DimId v = listed_variable(model, variable, list);
  check_rows(model, v, list);
  const std::string name = model.graph.dims()[v].name;
  const std::size_t holder = *only_holder(model, v).factor;
  const SortedSet grouped = parents_plates(model.graph, holder, v);
  const SortedSet left = base::subtract(model.graph.variable_plates()[v], grouped);
  const std::vector<std::int64_t> shape = sizes_of(model.graph, grouped, false);
  const Places places(model, list, grouped);

  std::vector<std::vector<DimId>> plates = model.graph.variable_plates();
  const std::string rows = unused_name(model.graph, "rows_of_" + name);
  const DimId row = model.graph.plate(rows, places.room);
  plates.emplace_back();
  std::vector<DimId> inside = grouped;
  inside.push_back(row);
  plates[v] = inside;
  Factor factor = model.graph.factors()[holder];
  for (const DimId plate : left) {
    const std::string& of = model.graph.dims()[plate].name;
    std::erase(factor.tied, plate);
    if (std::find(factor.dims.begin(), factor.dims.end(), plate) == factor.dims.end()) continue;
    const std::string index = unused_name(model.graph, std::string(of).append("_of_").append(name));
    const IntegerView& slices = list.slices.at(of);
    const DimId as_variable = model.graph.variable(index, model.graph.dims()[plate].size);
    plates.push_back(inside);
    std::replace(factor.dims.begin(), factor.dims.end(), plate, as_variable);
    model.evidence.insert_or_assign(index, places.sorted(slices, shape, model.graph.dims()[plate].size));
    model.observed.insert(index);
    model.directed = false;
  }
  factor.tied.push_back(row);
  graph::Derived::put_factor(model.graph, holder, std::move(factor));
  graph::Derived::state_plates(model.graph, plates);
  model.evidence.insert_or_assign(name, places.sorted(list.states, shape, model.graph.dims()[v].size));
  model.observed.insert(name);
  const auto is_full = [&](std::int64_t count) { return count == places.room; };
  if (!std::all_of(places.counts.begin(), places.counts.end(), is_full)) {
    model.lengths.insert_or_assign(rows, Integers(shape, places.counts));
  }
}

}  // namespace
}  // namespace model

void observe(Model& model, std::string_view variable, const Long& list) { model::observe_rows(model, variable, list); }

}  // namespace plated
