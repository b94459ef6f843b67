// Reads observed states by name or number.
#include "io/json_evidence.hpp"

#include <algorithm>

#include "graph/spell.hpp"
#include "io/array_values.hpp"
#include "io/json_fields.hpp"
#include "io/readers.hpp"
#include "model/rows.hpp"
#include "model/sizes.hpp"
#include "plated/data_file.hpp"
#include "tensor/check_entries.hpp"

namespace plated::io {
namespace {

using model::sizes_of;

/// The integers of nested lists, one reading of `item` each. `allowed` are the shapes it may have.
template <class Item>
Integers nested(const Source& source, const Json& value, const std::string& what,
                const std::vector<std::vector<std::int64_t>>& allowed, const Item& item) {
  const std::vector<std::int64_t> written = nested_shape(value);
  // Of the lists in an empty list nothing is to be seen.
  const auto fits = std::find_if(allowed.begin(), allowed.end(), [&](const std::vector<std::int64_t>& sizes) {
    return sizes == written || (!written.empty() && written.back() == 0 && written.size() <= sizes.size() &&
                                std::equal(written.begin(), written.end(), sizes.begin()));
  });
  if (fits == allowed.end()) {
    source.fail(value.at, what + " has the shape " + graph::as_shape(written) + ", not " + graph::as_shape(allowed[0]));
  }
  const std::vector<std::int64_t>& shape = *fits;
  std::vector<std::int64_t> entries;
  const auto collect = [&](const auto& self, const Json& level, std::size_t axis) -> void {
    if (axis == shape.size()) {
      if (level.is(Json::Kind::array)) source.fail(level.at, what + " is nested too deep");
      entries.push_back(item(level));
      return;
    }
    if (!level.is(Json::Kind::array) || static_cast<std::int64_t>(level.size()) != shape[axis]) {
      source.fail(level.at, what + ": a list here does not have " + std::to_string(shape[axis]) + " items");
    }
    if (level.packed) {
      for (const double number : level.numbers) {
        Json one;
        one.kind = Json::Kind::number;
        one.at = level.at;
        one.number = number;
        self(self, one, axis + 1);
      }
    }
    for (const Json& one : level.items) self(self, one, axis + 1);
  };
  collect(collect, value, 0);
  return {shape, std::move(entries)};
}

/// The states of a variable that a file has, in the shape that the model has for them.
IntegerView in_file(const Model& model, const Source& source, const Json& value, DimId variable,
                    const ReadOptions& options) {
  const std::string what = "the evidence of " + shown(model.graph.dims()[variable].name);
  check_object(source, value, what, {"file"});
  const std::filesystem::path path = located(source, options, required(source, value, "file", what));
  Evidence read = read_data(model, path, model.graph.dims()[variable].name);
  IntegerView& states = read.begin()->second;
  const std::vector<DimId>& plates = model.graph.variable_plates()[variable];
  if (states.shape() != sizes_of(model.graph, plates, false) && states.shape() != sizes_of(model.graph, plates, true)) {
    source.fail(value.at, what + " has the shape " + graph::as_shape(states.shape()) + ", not " +
                              graph::as_shape(sizes_of(model.graph, plates, false)));
  }
  source.blame(value.at, [&] {
    tensor::check_states(states, model.graph.dims()[variable].name, model.graph.dims()[variable].size);
  });
  return std::move(states);
}

/// `{"states": [0, 1], "slices": {"item": [0, 2]}}`
template <class StateOf>
Long rows_of(const Source& source, const Json& value, const std::string& what, const StateOf& state_of) {
  check_object(source, value, what, {"states", "slices"});
  const auto list = [&](const Json& entries, const auto& item) {
    const std::vector<std::int64_t> shape = nested_shape(entries);
    if (shape.size() != 1) source.fail(entries.at, what + " in rows should have lists of one axis");
    return nested(source, entries, what, {shape}, item);
  };
  Long rows{.states = list(required(source, value, "states", what), state_of)};
  const Json& slices = required(source, value, "slices", what);
  if (!slices.is(Json::Kind::object)) source.fail(slices.at, what + ": 'slices' should be an object from plates");
  for (const JsonMember& member : slices.members) {
    const std::string slice = "a slice of " + shown(member.key);
    rows.slices.emplace(member.key,
                        list(member.value, [&](const Json& entry) { return as_size(source, entry, slice); }));
  }
  return rows;
}

}  // namespace

Observations evidence_of(const Model& model, const Source& source, const Json& value, const ReadOptions* options) {
  if (!value.is(Json::Kind::object)) source.fail(value.at, "evidence should be an object from variables to states");
  const auto plates = source.blame(value.at, [&] { return model.graph.variable_plates(); });
  Observations result;
  Evidence& evidence = result.states;
  for (const JsonMember& member : value.members) {
    const std::string& name = member.key;
    const Json& states = member.value;
    const auto found = find_variable(model, name);
    if (!found) source.fail(states.at, "there is no variable " + shown(name) + " to observe");
    const Dim& dim = model.graph.dims()[*found];
    const std::string what = "the evidence of " + shown(name);
    const auto state_of = [&](const Json& state) -> std::int64_t {
      if (state.is(Json::Kind::null)) return -1;
      if (!state.is(Json::Kind::string)) {
        const bool unobserved = state.is(Json::Kind::number) && state.number == -1;
        const std::int64_t index = unobserved ? -1 : as_size(source, state, what);
        if (index < dim.size) return index;
        source.fail(state.at,
                    shown(name) + " has no state " + std::to_string(index) + ", only " + std::to_string(dim.size));
      }
      return source.blame(state.at, [&] { return state_named(model, dim.name, state.string); });
    };
    if (evidence.contains(dim.name) || result.lists.contains(dim.name)) {
      source.fail(states.at, shown(name) + " is observed twice");
    }
    if (states.is(Json::Kind::object) && states.find("states") != nullptr) {
      result.lists.emplace(dim.name, rows_of(source, states, what, state_of));
      const Long& rows = result.lists.at(dim.name);
      source.blame(states.at, [&] { model::check_rows(model, model::listed_variable(model, dim.name, rows), rows); });
      continue;
    }
    if (options != nullptr && states.is(Json::Kind::object)) {
      evidence.emplace(dim.name, in_file(model, source, states, *found, *options));
      continue;
    }
    const auto entry =
        nested(source, states, what,
               {sizes_of(model.graph, plates[*found], false), sizes_of(model.graph, plates[*found], true)}, state_of);
    evidence.emplace(dim.name, entry);
  }
  return result;
}

Lengths lengths_of(const Model& model, const Source& source, const Json& value) {
  if (!value.is(Json::Kind::object)) source.fail(value.at, "lengths should be an object from chains to lengths");
  const auto plates = source.blame(value.at, [&] { return model.graph.variable_plates(); });
  Lengths lengths;
  for (const JsonMember& member : value.members) {
    const std::string& name = member.key;
    const Json& entries = member.value;
    const auto chain = std::find_if(model.graph.chains().begin(), model.graph.chains().end(),
                                    [&](const Chain& c) { return model.graph.dims()[c.dim].name == name; });
    if (chain == model.graph.chains().end() || chain->links.empty()) {
      source.fail(entries.at, "there is no chain " + shown(name) + " with links");
    }
    std::vector<DimId> others = plates[chain->links[0].source];
    std::erase(others, chain->dim);
    const std::int64_t longest = model.graph.dims()[chain->dim].size;
    const std::string what = "the length of " + shown(name);
    const auto length_of = [&](const Json& entry) {
      const std::int64_t length = as_size(source, entry, what);
      if (length > longest) source.fail(entry.at, what + " is more than its " + std::to_string(longest) + " slices");
      return length;
    };
    lengths.emplace(
        name, nested(source, entries, what, {sizes_of(model.graph, others, false), sizes_of(model.graph, others, true)},
                     length_of));
  }
  return lengths;
}

Observations read_json_evidence(const Model& model, const Source& source) {
  return evidence_of(model, source, read_json(source));
}

}  // namespace plated::io
