// Names slices.
#include "slices.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace plated::cli {
namespace {

template <class Parts>
std::string bracketed(const std::string& label, const Parts& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : ",") + part;
  return text.empty() ? label : label + "[" + text + "]";
}

}  // namespace

std::string Slices::heading() const { return bracketed(label, axes); }

std::vector<std::int64_t> Slices::index(std::int64_t slice) const {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; slice /= shape[axis]) index[axis] = slice % shape[axis];
  return index;
}

std::string Slices::name(std::int64_t slice) const {
  std::vector<std::string> words;
  for (const std::int64_t place : index(slice)) words.push_back(std::to_string(place));
  return bracketed(label, words);
}

namespace {

/// Batch dims, plates and chains, each in declaration order: few, however many variables there are.
std::vector<DimId> sliced_dims(const Model& model) {
  const std::vector<Dim>& dims = model.graph.dims();
  std::vector<DimId> sliced;
  for (const DimKind kind : {DimKind::batch, DimKind::plate, DimKind::chain}) {
    for (DimId d = 0; d < dims.size(); ++d) {
      if (dims[d].kind == kind) sliced.push_back(d);
    }
  }
  return sliced;
}

Slices slices_among(const Model& model, const std::vector<std::string>& variables, const std::vector<DimId>& sliced) {
  const std::vector<Dim>& dims = model.graph.dims();
  const std::vector<std::vector<DimId>>& plates = model.graph.variable_plates();
  Slices of;
  of.variables = variables;
  std::set<DimId> around;
  for (const std::string& variable : variables) {
    const DimId id = *model.graph.find(variable);
    of.label += (of.label.empty() ? "" : ",") + label(model, variable);
    of.states *= dims[id].size;
    around.insert(plates[id].begin(), plates[id].end());
  }
  for (const DimId d : sliced) {
    if (dims[d].kind != DimKind::batch && !around.contains(d)) continue;
    of.axes.push_back(dims[d].name);
    of.shape.push_back(dims[d].size);
  }
  of.count = std::accumulate(of.shape.begin(), of.shape.end(), std::int64_t{1}, std::multiplies<>());
  return of;
}

}  // namespace

Slices slices_of(const Model& model, const std::vector<std::string>& variables) {
  return slices_among(model, variables, sliced_dims(model));
}

std::vector<Slices> slices(const Model& model) {
  const std::vector<DimId> sliced = sliced_dims(model);
  std::vector<Slices> all;
  for (const std::string& variable : variables(model)) all.push_back(slices_among(model, {variable}, sliced));
  return all;
}

std::vector<Slices> answered_slices(const Model& model) {
  std::vector<Slices> all = slices(model);
  std::erase_if(all, [&](const Slices& of) { return model.lists.contains(of.variables[0]); });
  return all;
}

std::string state_name(const Model& model, const Slices& of, std::int64_t state) {
  if (state < 0) return "-";
  std::string name;
  for (std::size_t k = of.variables.size(); k-- > 0;) {
    const std::string& variable = of.variables[k];
    const std::int64_t size = model.graph.dims()[*model.graph.find(variable)].size;
    name = state_label(model, variable, state % size) + (name.empty() ? "" : "," + name);
    state /= size;
  }
  return name;
}

std::int64_t observed_state(const Model& model, const Slices& of, std::int64_t slice) {
  if (of.variables.size() != 1) return -1;
  const auto found = model.evidence.find(of.variables[0]);
  if (found == model.evidence.end() || found->second.size() == 0) return -1;
  // Evidence has its axes in declaration order, batch dims in front or not at all.
  const std::vector<DimId>& plates = model.graph.variable_plates()[*model.graph.find(of.variables[0])];
  const std::vector<std::int64_t> index = of.index(slice);
  const std::size_t batches = of.axes.size() - plates.size();
  std::vector<std::int64_t> at;
  if (found->second.shape().size() == of.shape.size()) {
    at.assign(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(batches));
  }
  for (const DimId plate : plates) {
    const auto axis = std::find(of.axes.begin(), of.axes.end(), model.graph.dims()[plate].name);
    at.push_back(index[static_cast<std::size_t>(axis - of.axes.begin())]);
  }
  return found->second.at(at);
}

}  // namespace plated::cli
