// Names slices.
#include "slices.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

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

std::string Slices::name(std::int64_t slice) const {
  std::vector<std::string> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; slice /= shape[axis]) {
    index[axis] = std::to_string(slice % shape[axis]);
  }
  return bracketed(label, index);
}

std::vector<Slices> slices(const Model& model) {
  const std::vector<Dim>& dims = model.graph.dims();
  const std::vector<std::vector<DimId>> plates = model.graph.variable_plates();
  std::vector<DimId> batch;
  for (DimId d = 0; d < dims.size(); ++d) {
    if (dims[d].kind == DimKind::batch) batch.push_back(d);
  }
  std::vector<Slices> all;
  for (const std::string& variable : variables(model)) {
    const DimId id = *model.graph.find(variable);
    Slices& of = all.emplace_back();
    of.variable = variable;
    of.label = label(model, variable);
    std::vector<DimId> axes = batch;
    axes.insert(axes.end(), plates[id].begin(), plates[id].end());
    for (const DimId d : axes) {
      of.axes.push_back(dims[d].name);
      of.shape.push_back(dims[d].size);
    }
    of.count = std::accumulate(of.shape.begin(), of.shape.end(), std::int64_t{1}, std::multiplies<>());
    of.states = dims[id].size;
  }
  return all;
}

std::int64_t observed_state(const Model& model, const Slices& of, std::int64_t slice) {
  const auto found = model.evidence.find(of.variable);
  if (found == model.evidence.end() || found->second.values.empty()) return -1;
  // Evidence without batch dims is the same for all of them.
  const auto entries = static_cast<std::int64_t>(found->second.values.size());
  return found->second.values[static_cast<std::size_t>(slice % entries)];
}

}  // namespace plated::cli
