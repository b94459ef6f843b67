// Adds evidence: one assignment at a time, as on a command line, or all states of variables.
#include <algorithm>

#include "base/whole_integer.hpp"
#include "graph/spell.hpp"
#include "model/sizes.hpp"
#include "model/unknown_name.hpp"
#include "plated/error.hpp"
#include "plated/model.hpp"
#include "tensor/check_entries.hpp"

namespace plated {
namespace {

/// `name[1,2]` taken apart; a name that has brackets of its own is found whole.
struct Observed {
  DimId variable = 0;
  std::vector<std::int64_t> index;
};

std::optional<std::vector<std::int64_t>> read_index(std::string_view list) {
  std::vector<std::int64_t> index;
  while (true) {
    const std::size_t comma = list.find(',');
    const auto number = base::whole_integer(list.substr(0, comma));
    if (!number) return std::nullopt;
    index.push_back(*number);
    if (comma == std::string_view::npos) return index;
    list.remove_prefix(comma + 1);
  }
}

Observed read_variable(const Model& model, std::string_view spelled) {
  if (const auto found = find_variable(model, spelled)) return {*found, {}};
  const std::size_t bracket = spelled.rfind('[');
  if (bracket != std::string_view::npos && spelled.ends_with(']')) {
    const auto found = find_variable(model, spelled.substr(0, bracket));
    auto index = read_index(spelled.substr(bracket + 1, spelled.size() - bracket - 2));
    if (found && index) return {*found, std::move(*index)};
  }
  model::fail_without_variable(model, spelled, "to observe");
}

/// "it lives in 'i' and 'j': (3, 4) is expected"
std::string shape_expected(const FactorGraph& graph, const std::vector<DimId>& plates,
                           const std::vector<std::int64_t>& sizes) {
  if (plates.empty()) return "it is in no plate: a single state is expected";
  return "it is in " + graph::as_set(graph, plates) + ": " + graph::as_shape(sizes) + " is expected";
}

}  // namespace

std::string observe(Model& model, std::string_view assignment) {
  // States may hold '=', and so may the brackets of unrolled names: the sign that tells is the first behind the
  // brackets.
  const std::size_t bracket = assignment.find(']');
  const std::size_t sign = assignment.find(
      '=', bracket == std::string_view::npos || assignment.find('=') < assignment.find('[') ? 0 : bracket);
  if (sign == std::string_view::npos) {
    throw ParseError("evidence reads 'variable=state', as in 'rain=yes', not " + graph::quoted(assignment));
  }
  const Observed observed = read_variable(model, assignment.substr(0, sign));
  const Dim& dim = model.graph.dims()[observed.variable];
  if (model.lists.contains(dim.name)) {
    throw OptionError("the evidence of " + graph::quoted(dim.name) + " is a list of rows: add a row to it instead");
  }
  const std::string_view spelled = assignment.substr(sign + 1);
  const std::int64_t state = state_named(model, dim.name, spelled);

  const std::vector<DimId> plates = model.graph.variable_plates()[observed.variable];
  const std::vector<std::int64_t> sizes = model::sizes_of(model.graph, plates, false);
  const auto known = model.evidence.find(dim.name);
  if (known != model.evidence.end() && known->second.shape() != sizes)
    throw SizeError("the evidence of " + graph::quoted(dim.name) + " has batch dims; give all of it in a file");
  if (observed.index.size() != sizes.size()) {
    throw SizeError(graph::quoted(dim.name) + " lives in " + std::to_string(sizes.size()) + " plates: observe it as " +
                    graph::quoted(dim.name + "[0]=" + std::string(spelled)) + ", with an index for each");
  }
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (observed.index[k] >= 0 && observed.index[k] < sizes[k]) continue;
    throw SizeError("plate " + graph::quoted(model.graph.dims()[plates[k]].name) + " has no slice " +
                    std::to_string(observed.index[k]) + ", only " + std::to_string(sizes[k]));
  }
  Integers states = known == model.evidence.end() ? Integers(sizes, -1) : known->second.integers();
  states.at(observed.index) = state;
  model.evidence.insert_or_assign(dim.name, std::move(states));
  model.observed.insert(dim.name);
  std::string slice;
  for (const std::int64_t k : observed.index) slice += (slice.empty() ? "[" : ",") + std::to_string(k);
  return dim.name + slice + (slice.empty() ? "" : "]");
}

void observe(Model& model, const Evidence& evidence) {
  for (const auto& [name, states] : evidence) {
    const auto id = find_variable(model, name);
    if (!id) model::fail_without_variable(model, name, "to observe");
    const Dim& dim = model.graph.dims()[*id];
    const std::vector<DimId>& plates = model.graph.variable_plates()[*id];
    const std::vector<std::int64_t> sizes = model::sizes_of(model.graph, plates, false);
    if (states.shape() != sizes && states.shape() != model::sizes_of(model.graph, plates, true)) {
      throw ShapeError("the evidence of " + graph::quoted(name) + " has the shape " + graph::as_shape(states.shape()) +
                       ", and " + shape_expected(model.graph, plates, sizes));
    }
    tensor::check_states(states, name, dim.size);
    model.evidence.insert_or_assign(dim.name, states);
    model.lists.erase(dim.name);
    model.observed.insert(dim.name);
  }
}

}  // namespace plated
