// Flattens a model without plates, and lists what flat formats cannot hold.
#include "io/flat.hpp"

#include <algorithm>
#include <limits>

#include "graph/spell.hpp"
#include "plated/error.hpp"

namespace plated::io {
namespace {

/// The diagonal where a dim repeats: its axes become one that steps along all of them.
FlatFactor without_repeats(const std::vector<std::size_t>& variables, const Tensor& numbers) {
  FlatFactor result;
  Tensor::Shape shape;
  Tensor::Shape strides;
  for (std::size_t axis = 0; axis < variables.size(); ++axis) {
    const auto known = std::find(result.variables.begin(), result.variables.end(), variables[axis]);
    if (known != result.variables.end()) {
      strides[static_cast<std::size_t>(known - result.variables.begin())] += numbers.strides()[axis];
      continue;
    }
    result.variables.push_back(variables[axis]);
    shape.push_back(numbers.shape()[axis]);
    strides.push_back(numbers.strides()[axis]);
  }
  // The memory stays the original's, which outlives the result.
  result.numbers = numbers.dtype() == Dtype::float32
                       ? Tensor::view(static_cast<const float*>(numbers.data()), shape, strides)
                       : Tensor::view(static_cast<const double*>(numbers.data()), shape, strides);
  result.numbers = result.numbers.keeping(std::make_shared<Tensor>(numbers));
  return result;
}

void put_last(FlatFactor& factor, std::size_t variable) {
  const auto place = std::find(factor.variables.begin(), factor.variables.end(), variable);
  if (place == factor.variables.end()) return;
  std::vector<std::size_t> axes;
  const auto axis = static_cast<std::size_t>(place - factor.variables.begin());
  for (std::size_t k = 0; k < factor.variables.size(); ++k) {
    if (k != axis) axes.push_back(k);
  }
  axes.push_back(axis);
  factor.numbers = factor.numbers.permuted(axes);
  factor.variables.erase(place);
  factor.variables.push_back(variable);
}

void check_flat(const Model& model, Format format) {
  for (const Dim& dim : model.graph.dims()) {
    if (dim.kind == DimKind::variable) continue;
    const std::string what = graph::kind_name(dim.kind) + " " + graph::quoted(dim.name);
    throw OptionError("the model has the " + what + ", which " + std::string(name(format)) + " files cannot hold" +
                      (has_slices(dim.kind) ? ": unroll it first" : ""));
  }
}

void note_losses(const Model& model, std::vector<std::string>& losses) {
  const std::vector<Output>& outputs = model.graph.outputs();
  const bool total = outputs.empty() || (outputs.size() == 1 && outputs[0].dims.empty());
  if (!total) losses.emplace_back("what the model is asked for: its outputs");
  if (!model.observed.empty()) {
    const bool all = std::all_of(model.observed.begin(), model.observed.end(),
                                 [&](const std::string& v) { return model.evidence.contains(v); });
    if (!all) losses.emplace_back("that variables without evidence are marked as observed");
  }
}

/// How many logarithms have a weight that a double cannot distinguish from zero.
std::int64_t underflows(const Tensor& logs) {
  std::int64_t count = 0;
  for (const double entry : logs.values()) {
    if (entry < -745.2 && entry != -std::numeric_limits<double>::infinity()) ++count;
  }
  return count;
}

}  // namespace

FlatModel flat(const Model& model, Format format, std::vector<std::string>& losses) {
  check_flat(model, format);
  note_losses(model, losses);
  FlatModel result;
  std::vector<std::size_t> place(model.graph.dims().size());
  for (DimId d = 0; d < model.graph.dims().size(); ++d) {
    place[d] = result.variables.size();
    result.variables.push_back(model.graph.dims()[d].name);
    result.sizes.push_back(model.graph.dims()[d].size);
    if (model.graph.dims()[d].size == 0) {
      throw OptionError("variable " + graph::quoted(result.variables.back()) + " has no states, which " +
                        std::string(name(format)) + " files cannot hold");
    }
  }
  const Model weights = in_space(model, Space::real);
  for (std::size_t f = 0; f < weights.factors.size(); ++f) {
    const Factor& factor = model.graph.factors()[f];
    if (model.space == Space::log) {
      if (const std::int64_t lost = underflows(model.factors[f]); lost > 0) {
        losses.push_back(std::to_string(lost) + " entries of factor " + graph::quoted(factor.name) +
                         ", whose weights are below the smallest double: they become 0");
      }
    }
    std::vector<std::size_t> variables;
    for (const DimId dim : factor.dims) variables.push_back(place[dim]);
    FlatFactor& added = result.factors.emplace_back(without_repeats(variables, weights.factors[f]));
    if (!model.children[f].empty()) put_last(added, place[*model.graph.find(model.children[f])]);
  }
  return result;
}

}  // namespace plated::io
