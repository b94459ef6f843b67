// Converts a model's numbers between weights and logarithms, and labels its variables and states.
#include "plated/model.hpp"

#include <cmath>
#include <limits>

#include "graph/spell.hpp"
#include "model/entries.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

template <class T>
void map_entries(T* entries, std::int64_t count, Space space, const std::string& factor) {
  for (std::int64_t k = 0; k < count; ++k) {
    const T entry = entries[k];
    const Space before = space == Space::real ? Space::log : Space::real;
    if (const char* why = model::refused_entry(static_cast<double>(entry), before)) {
      throw ValueError("an entry of factor " + graph::quoted(factor) + " " + why);
    }
    entries[k] = before == Space::log ? std::exp(entry) : std::log(entry);
    if (entries[k] == std::numeric_limits<T>::infinity()) {
      throw ValueError("an entry of factor " + graph::quoted(factor) + " has a weight too large for a float");
    }
  }
}

Tensor converted(const Tensor& numbers, Space space, const std::string& factor) {
  Tensor result;
  if (numbers.dtype() == Dtype::float32) {
    const std::vector<double> values = numbers.values();
    result = Tensor::of<float>(numbers.shape(), std::vector<float>(values.begin(), values.end()));
    map_entries(static_cast<float*>(result.mutable_data()), result.elements(), space, factor);
  } else {
    result = Tensor::of<double>(numbers.shape(), numbers.values());
    map_entries(static_cast<double*>(result.mutable_data()), result.elements(), space, factor);
  }
  return result;
}

}  // namespace

std::string_view name(Format format) {
  switch (format) {
    case Format::uai:
      return "uai";
    case Format::bif:
      return "bif";
    default:
      return "plated";
  }
}

std::vector<std::string> variables(const Model& model) {
  std::vector<std::string> names;
  for (const Dim& dim : model.graph.dims()) {
    if (dim.kind == DimKind::variable && dim.end == End::none) names.push_back(dim.name);
  }
  return names;
}

std::string label(const Model& model, std::string_view variable) {
  const auto found = model.labels.find(variable);
  return found == model.labels.end() ? std::string(variable) : found->second;
}

std::string state_label(const Model& model, std::string_view variable, std::int64_t state) {
  const auto found = model.states.find(variable);
  const bool named =
      found != model.states.end() && state >= 0 && state < static_cast<std::int64_t>(found->second.size());
  return named ? found->second[static_cast<std::size_t>(state)] : std::to_string(state);
}

Model in_space(Model model, Space space) {
  if (model.space == space) return model;
  model.space = space;
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    model.factors[f] = converted(model.factors[f], space, model.graph.factors()[f].name);
  }
  return model;
}

}  // namespace plated
