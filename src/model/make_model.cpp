// Makes models from graphs and numbers by name, and checks that they fit.
#include <algorithm>
#include <set>

#include "graph/derived.hpp"
#include "graph/spell.hpp"
#include "model/directed.hpp"
#include "model/entries.hpp"
#include "model/learning.hpp"
#include "model/likelihoods.hpp"
#include "plated/error.hpp"
#include "plated/model.hpp"

namespace plated {
namespace {

Tensor::Shape shape_of(const FactorGraph& graph, const Factor& factor) {
  Tensor::Shape shape;
  for (const DimId d : factor.dims) shape.push_back(graph.dims()[d].size);
  return shape;
}

void check_shape(const FactorGraph& graph, const Factor& factor, const Tensor& numbers) {
  const Tensor::Shape wanted = shape_of(graph, factor);
  if (numbers.data() == nullptr) throw NullDataError("factor " + graph::quoted(factor.name) + " has no data");
  if (numbers.shape() == wanted) return;
  throw ShapeError("factor " + graph::quoted(factor.name) + " has the shape " + graph::as_shape(numbers.shape()) +
                   ", and its dims " + graph::as_term(graph, factor.dims) + " have " + graph::as_shape(wanted));
}

void check_entries(const Factor& factor, const Tensor& numbers, Space space) {
  for (const double entry : numbers.values()) {
    if (const char* why = model::refused_entry(entry, space)) {
      throw ValueError("an entry of factor " + graph::quoted(factor.name) + " " + why);
    }
  }
}

/// A distribution sums to one, and from then on it is trusted.
void check_distribution(FactorGraph& graph, std::size_t index, const Tensor& numbers, Space space) {
  Factor factor = graph.factors()[index];
  const std::string child = graph.dims()[*factor.distribution_of].name;
  const auto axis = std::find(factor.dims.begin(), factor.dims.end(), *factor.distribution_of) - factor.dims.begin();
  if (!factor.trusted && !model::sums_to_one(numbers, static_cast<std::size_t>(axis), space)) {
    throw ValueError("factor " + graph::quoted(factor.name) + " does not sum to one over " + graph::quoted(child) +
                     ", which it is a distribution of");
  }
  factor.trusted = true;
  graph::Derived::put_factor(graph, index, std::move(factor));
}

/// Those of a factor that has none: it is a likelihood, or is to be learnt, from anywhere.
Tensor unknown_numbers(Model& model, const Factor& factor) {
  if (model.likelihoods.contains(factor.name))
    return model::neutral_numbers(shape_of(model.graph, factor), model.space);
  const auto learning = model.learning.find(factor.name);
  if (learning == model.learning.end() || !learning->second.learn || !factor.distribution_of) {
    throw OperandCountError("factor " + graph::quoted(factor.name) + " has no numbers");
  }
  learning->second.started = false;
  return model::uniform_start(shape_of(model.graph, factor), model.graph.dims()[*factor.distribution_of].size,
                              model.space);
}

void add_factors(Model& model, const std::map<std::string, Tensor>& factors) {
  std::set<std::string, std::less<>> unknown;
  for (const auto& [name, numbers] : factors) unknown.insert(name);
  for (std::size_t f = 0; f < model.graph.factors().size(); ++f) {
    const Factor& factor = model.graph.factors()[f];
    const auto given = factors.find(factor.name);
    const Tensor numbers = given == factors.end() ? unknown_numbers(model, factor) : given->second;
    unknown.erase(factor.name);
    if (given != factors.end() && model.likelihoods.contains(factor.name)) {
      throw OptionError("factor " + graph::quoted(factor.name) + " is a likelihood: it has parameters, and no numbers");
    }
    check_shape(model.graph, factor, numbers);
    check_entries(factor, numbers, model.space);
    model.factors.push_back(numbers);
    const auto child = factor.distribution_of;
    model.children.push_back(child ? model.graph.dims()[*child].name : "");
    if (child) check_distribution(model.graph, f, numbers, model.space);
  }
  if (!unknown.empty()) throw UnknownNameError("the graph has no factor " + graph::quoted(*unknown.begin()));
}

DimId variable_named(const Model& model, std::string_view name) {
  const auto found = find_variable(model, name);
  if (!found) throw UnknownNameError("the graph has no variable " + graph::quoted(name));
  return *found;
}

void check_states(const Model& model) {
  for (const auto& [variable, names] : model.states) {
    const std::int64_t size = model.graph.dims()[variable_named(model, variable)].size;
    if (static_cast<std::int64_t>(names.size()) != size) {
      throw SizeError(graph::quoted(variable) + " has " + std::to_string(size) + " states, and " +
                      std::to_string(names.size()) + " names of states were given");
    }
    const std::set<std::string> distinct(names.begin(), names.end());
    if (distinct.size() != names.size()) {
      throw DuplicateNameError(graph::quoted(variable) + " has two states of one name");
    }
  }
}

void check_lengths(const Model& model) {
  for (const auto& [name, lengths] : model.lengths) {
    const auto found = model.graph.find(name);
    if (!found || !has_slices(model.graph.dims()[*found].kind)) {
      throw UnknownNameError("the graph has no plate or chain " + graph::quoted(name) + " to have lengths");
    }
  }
}

}  // namespace

Model make_model(FactorGraph graph, const std::map<std::string, Tensor>& factors, ModelOptions options) {
  if (graph.outputs().empty()) graph.output({});
  graph.validate();
  Model model{.name = std::move(options.name),
              .format = Format::plated,
              .graph = std::move(graph),
              .factors = {},
              .space = options.space,
              .children = {},
              .directed = false,
              .states = std::move(options.states),
              .labels = std::move(options.labels),
              .observed = std::move(options.observed),
              .evidence = {},
              .lists = {},
              .lengths = std::move(options.lengths),
              .learning = std::move(options.learning),
              .likelihoods = std::move(options.likelihoods),
              .measurements = {},
              .notes = {}};
  add_factors(model, factors);
  model::check_likelihoods(model);
  model::check_learning(model);
  check_states(model);
  check_lengths(model);
  for (const auto& [variable, label] : model.labels) (void)variable_named(model, variable);
  for (const std::string& variable : model.observed) (void)variable_named(model, variable);
  observe(model, options.evidence);
  for (const auto& [variable, list] : options.lists) observe(model, variable, list);
  measure(model, options.measurements);
  model.directed = model::is_directed(model);
  return model;
}

}  // namespace plated
