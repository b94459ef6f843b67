// Gives a model its data, and its plates the sizes of the data.
#include "learn/with_data.hpp"

#include <algorithm>
#include <cmath>

#include "base/sorted_set.hpp"
#include "graph/answer_axes.hpp"
#include "graph/spell.hpp"
#include "model/likelihoods.hpp"
#include "model/rows.hpp"
#include "model/unknown_name.hpp"
#include "plated/error.hpp"
#include "tensor/check_entries.hpp"

namespace plated::learn {
namespace {

/// The factor that has an axis for a dim, if any.
const Factor* factor_with_axis(const FactorGraph& graph, DimId dim) {
  for (const Factor& factor : graph.factors()) {
    if (std::find(factor.dims.begin(), factor.dims.end(), dim) != factor.dims.end()) return &factor;
  }
  return nullptr;
}

void resize(Model& model, DimId plate, std::int64_t size, const std::string& variable) {
  const Dim& dim = model.graph.dims()[plate];
  if (dim.size == size) return;
  if (const Factor* const factor = factor_with_axis(model.graph, plate)) {
    throw ShapeError("the data of " + graph::quoted(variable) + " have " + std::to_string(size) + " slices of " +
                     graph::kind_name(dim.kind) + " " + graph::quoted(dim.name) + ", and factor " +
                     graph::quoted(factor->name) + " has an axis of " + std::to_string(dim.size) + " for it");
  }
  model.graph = model.graph.resized(dim.name, size);
}

/// Sizes follow the data; a shape of another rank is left to observe() and measure(), which refuse it. Returns which
/// data say what.
std::map<DimId, std::string> resize_plates(Model& model, const Data& data) {
  std::map<DimId, std::string> said;
  // By value: the graph that has them changes.
  const auto follow = [&](const std::string& name, std::vector<DimId> plates, const Tensor::Shape& shape) {
    const std::size_t batch = graph::batch_axes(model.graph).size();
    if (shape.size() != plates.size() && shape.size() != plates.size() + batch) return;
    const std::size_t leading = shape.size() - plates.size();
    for (std::size_t k = 0; k < plates.size(); ++k) {
      const auto [before, is_new] = said.emplace(plates[k], name);
      const std::int64_t size = shape[leading + k];
      if (!is_new && model.graph.dims()[plates[k]].size != size) {
        throw ShapeError("the data of " + graph::quoted(before->second) + " and of " + graph::quoted(name) +
                         " have different numbers of slices of " + graph::quoted(model.graph.dims()[plates[k]].name));
      }
      resize(model, plates[k], size, name);
    }
  };
  for (const auto& [name, values] : data.states) {
    const auto variable = find_variable(model, name);
    if (!variable) model::fail_without_variable(model, name, "to have data");
    follow(name, model.graph.variable_plates()[*variable], values.shape());
  }
  for (const auto& [name, numbers] : data.measurements) {
    const std::vector<std::size_t> factors = model::factors_measuring(model, name);
    if (!factors.empty()) follow(name, model.graph.factor_plates(factors[0]), numbers.shape());
  }
  return said;
}

/// What a model knows of its numbers by itself must fit the sizes.
void take_measurements(Model& result, const Model& model, const Measurements& measurements) {
  result.measurements.clear();
  Measurements all = measurements;
  all.insert(model.measurements.begin(), model.measurements.end());
  measure(result, all);
  for (const auto& [name, numbers] : result.measurements) {
    const std::vector<double> values = numbers.values();
    if (values.empty() || std::any_of(values.begin(), values.end(), [](double x) { return !std::isnan(x); })) continue;
    throw ValueError("all data of " + graph::quoted(name) + " are missing: leave them out, and they say nothing");
  }
}

/// Plates that nothing else says the size of have slices up to the last that a row is about.
void resize_plates(Model& model, const Lists& lists, const std::map<DimId, std::string>& said) {
  std::map<DimId, std::int64_t> sizes;
  for (const auto& [name, list] : lists) {
    const DimId variable = model::listed_variable(model, name, list);
    for (const DimId plate : model.graph.variable_plates()[variable]) {
      if (said.contains(plate) || factor_with_axis(model.graph, plate) != nullptr) continue;
      const IntegerView& slices = list.slices.at(model.graph.dims()[plate].name);
      std::int64_t& size = sizes[plate];
      if (slices.size() > 0) size = std::max(size, tensor::range_of(slices).most + 1);
    }
  }
  for (const auto& [plate, size] : sizes) model.graph = model.graph.resized(model.graph.dims()[plate].name, size);
}

void check_lists(const Model& model, const Data& data) {
  for (const auto& [name, list] : data.lists) {
    const std::string& variable = model.graph.dims()[*find_variable(model, name)].name;
    if (data.states.contains(variable) || data.states.contains(name)) {
      throw OptionError("the data of " + graph::quoted(name) + " are given as an array and as a list");
    }
  }
}

}  // namespace

Model with_data(const Model& model, const Data& data) {
  Model result = model;
  resize_plates(result, data.lists, resize_plates(result, data));
  check_lists(result, data);
  const auto is_told = [&](const auto& names, const std::string& name) {
    return names.contains(name) || names.contains(label(model, name));
  };
  result.evidence.clear();
  for (const auto& [name, states] : model.evidence) {
    // What data say of a variable counts alone; other evidence must fit the sizes.
    if (!is_told(data.states, name) && !is_told(data.lists, name)) observe(result, {{name, states}});
  }
  observe(result, data.states);
  result.lists.clear();
  for (const auto& [name, list] : model.lists) {
    if (!is_told(data.states, name) && !is_told(data.lists, name)) observe(result, name, list);
  }
  for (const auto& [name, list] : data.lists) observe(result, name, list);
  for (const auto& [name, lengths] : data.lengths) result.lengths.insert_or_assign(name, lengths);
  take_measurements(result, model, data.measurements);
  if (result.evidence.empty() && result.lists.empty() && result.measurements.empty()) {
    throw OptionError("there are no data: the model has no evidence, and none was given");
  }
  const auto check_seen = [&](const std::string& name, const IntegerView& states) {
    if (tensor::range_of(states).most >= 0) return;  // of none as well
    throw ValueError("all data of " + graph::quoted(label(result, name)) +
                     " are missing: leave the variable out, and it is latent");
  };
  for (const auto& [name, states] : result.evidence) check_seen(name, states);
  for (const auto& [name, list] : result.lists) {
    check_seen(name, list.states.size() > 0 ? list.states : IntegerView(Integers({1}, -1)));  // rows of nothing
  }
  return result;
}

std::vector<model::Listed> sorted_lists(const Model& model, const Weights& weights, std::optional<DimId> cut) {
  std::vector<model::Listed> sorted;
  for (const auto& [name, list] : model.lists) {
    const model::Listed& one = sorted.emplace_back(model, name, list, cut);
    for (const DimId plate : model.graph.variable_plates()[one.variable()]) {
      const std::string& of_rows = model.graph.dims()[plate].name;
      if (graph::contains(one.plates(), plate) || !weights.contains(of_rows)) continue;
      throw OptionError("plate " + graph::quoted(of_rows) + " has weights, and no parent of " + graph::quoted(name) +
                        " is in it, whose rows are listed: give them as an array of all slices");
    }
  }
  return sorted;
}

Model with_lists(Model model, const std::vector<model::Listed>& lists) {
  for (const model::Listed& list : lists) list.put_factor(model);
  return model;
}

Model resized_like(const Model& model, const FactorGraph& graph) {
  Model result = model;
  bool same = true;
  for (DimId d = 0; d < graph.dims().size(); ++d) same = same && graph.dims()[d].size == model.graph.dims()[d].size;
  if (same) return result;
  result.graph = graph;
  result.evidence.clear();
  result.lists.clear();
  result.measurements.clear();
  result.lengths.clear();
  return result;
}

}  // namespace plated::learn
