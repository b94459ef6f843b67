// Takes some slices of a plate from a model and its data.
#include "learn/take_slices.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "graph/answer_axes.hpp"
#include "graph/length_axes.hpp"
#include "model/likelihoods.hpp"
#include "tensor/check_entries.hpp"
#include "tensor/taken.hpp"

namespace plated::learn {
namespace {

using Slices = std::vector<std::int64_t>;

/// Calls copy(from, to, count) for each stretch of a row-major array of which some slices along an axis are kept.
template <class Copy>
void each_stretch(const std::vector<std::int64_t>& shape, std::size_t axis, const Slices& slices, const Copy& copy) {
  const auto middle = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  const std::int64_t outer = std::accumulate(shape.begin(), middle, std::int64_t{1}, std::multiplies<>());
  const std::int64_t inner = std::accumulate(middle + 1, shape.end(), std::int64_t{1}, std::multiplies<>());
  std::int64_t to = 0;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const std::int64_t slice : slices) {
      copy((o * *middle + slice) * inner, to, inner);
      to += inner;
    }
  }
}

std::vector<std::int64_t> shape_with(std::vector<std::int64_t> shape, std::size_t axis, const Slices& slices) {
  shape[axis] = std::ssize(slices);
  return shape;
}

/// A view of so many slices along an axis.
Tensor range_of(const Tensor& all, std::size_t axis, std::int64_t first, std::int64_t count) {
  Tensor::Shape shape = all.shape();
  shape[axis] = count;
  const auto view = [&]<class T>(const T* data) {
    return Tensor::view(data + first * all.strides()[axis], shape, all.strides());
  };
  return all.dtype() == Dtype::float32 ? view(all.data<const float>()) : view(all.data<const double>());
}

/// Reads no slices before the first or behind the last of them, which are in order.
Tensor taken(const Tensor& all, std::size_t axis, Slices slices) {
  Tensor some = Tensor::uninitialised(all.dtype(), shape_with(all.shape(), axis, slices));
  if (some.elements() == 0) return some;
  const std::int64_t first = slices.front();
  for (std::int64_t& slice : slices) slice -= first;
  const Tensor range = range_of(all, axis, first, slices.back() + 1);
  const std::vector<double> values = range.values();
  const auto fill = [&]<class T>(T* entries) {
    each_stretch(range.shape(), axis, slices, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
      std::transform(values.begin() + from, values.begin() + from + count, entries + to,
                     [](double value) { return static_cast<T>(value); });
    });
  };
  if (all.dtype() == Dtype::float32) {
    fill(static_cast<float*>(some.mutable_data()));
  } else {
    fill(static_cast<double*>(some.mutable_data()));
  }
  return some;
}

bool is_any_observed(const IntegerView& states) { return states.size() > 0 && tensor::range_of(states).most >= 0; }

/// The axis of a plate in an array shaped by dims, with batch dims in front of them or not.
std::optional<std::size_t> axis_of(const FactorGraph& graph, const std::vector<DimId>& dims, std::size_t rank,
                                   DimId plate) {
  const auto found = std::find(dims.begin(), dims.end(), plate);
  if (found == dims.end()) return std::nullopt;
  const std::size_t leading = rank == dims.size() ? 0 : graph::batch_axes(graph).size();
  return leading + static_cast<std::size_t>(found - dims.begin());
}

/// The plates that the lengths of a plate or chain are shaped by.
std::vector<DimId> plates_of_lengths(const FactorGraph& graph, DimId dim) {
  std::vector<DimId> axes = graph::length_axes(graph, dim);
  axes.erase(axes.begin(), axes.begin() + std::ssize(graph::batch_axes(graph)));
  return axes;
}

/// The rows of a list that are about some slices of a plate, which are numbered from 0.
Long taken(const Long& all, const std::string& plate, std::int64_t size, const Slices& slices) {
  std::vector<std::int64_t> number(static_cast<std::size_t>(size), -1);
  for (std::size_t k = 0; k < slices.size(); ++k) {
    number[static_cast<std::size_t>(slices[k])] = static_cast<std::int64_t>(k);
  }
  const IntegerView& about = all.slices.at(plate);
  Slices rows;
  for (std::size_t r = 0; r < about.size(); ++r) {
    if (number[static_cast<std::size_t>(about[r])] >= 0) rows.push_back(static_cast<std::int64_t>(r));
  }
  Long some{.states = tensor::taken(all.states, 0, rows)};
  for (const auto& [name, entries] : all.slices) {
    IntegerView& own = some.slices.emplace(name, tensor::taken(entries, 0, rows)).first->second;
    if (name != plate) continue;
    Integers numbered = own.integers();
    for (std::int64_t& slice : numbered.values) slice = number[static_cast<std::size_t>(slice)];
    own = std::move(numbered);
  }
  return some;
}

/// The numbers of likelihoods, and the parameters of those that have an axis for the plate.
void take_likelihoods(const Model& observed, DimId plate, const Slices& slices, ModelAndData& result) {
  const FactorGraph& graph = observed.graph;
  result.model.measurements.clear();
  result.data.measurements = take_measurements(observed, plate, slices);
  std::erase_if(result.data.measurements, [](const auto& entry) {
    return std::all_of(entry.second.begin(), entry.second.end(), [](double number) { return std::isnan(number); });
  });
  for (std::size_t f = 0; f < observed.factors.size(); ++f) {
    const std::vector<DimId>& dims = graph.factors()[f].dims;
    const auto axis = axis_of(graph, dims, dims.size(), plate);
    if (!axis || model::likelihood_of(observed, f) == nullptr) continue;
    for (auto& [name, numbers] : result.model.likelihoods.find(graph.factors()[f].name)->second.parameters) {
      if (numbers.rank() > 0) numbers = taken(numbers, *axis, slices);
    }
  }
}

}  // namespace

Measurements take_measurements(const Model& observed, DimId plate, const Slices& slices) {
  Measurements result;
  for (const auto& [name, numbers] : observed.measurements) {
    const std::vector<DimId> plates = observed.graph.factor_plates(model::factors_measuring(observed, name)[0]);
    const auto axis = axis_of(observed.graph, plates, numbers.rank(), plate);
    result.emplace(name, axis ? taken(numbers, *axis, slices) : numbers);
  }
  return result;
}

ModelAndData take_slices(const Model& observed, const Weights& weights, DimId plate, const Slices& slices) {
  Model model = observed;
  const Data all{.states = std::move(model.evidence),
                 .lengths = std::move(model.lengths),
                 .weights = weights,
                 .lists = std::move(model.lists)};
  model.lists.clear();
  model.evidence.clear();
  model.lengths.clear();
  return take_slices(model, all, plate, slices);
}

ModelAndData take_slices(const Model& model, const Data& all, DimId plate, const Slices& slices) {
  const FactorGraph& graph = model.graph;
  const std::string& name = graph.dims()[plate].name;
  ModelAndData result{.model = model, .data = {.weights = all.weights}};
  result.model.graph = graph.resized(name, std::ssize(slices));
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    const std::vector<DimId>& dims = graph.factors()[f].dims;
    const auto axis = axis_of(graph, dims, dims.size(), plate);
    if (!axis) continue;
    result.model.factors[f] = taken(model.factors[f], *axis, slices);
    const auto learning = result.model.learning.find(graph.factors()[f].name);
    if (learning != result.model.learning.end()) learning->second.prior = {};  // of all slices, and it is not learnt
  }
  for (const auto& [variable, states] : all.states) {
    const std::vector<DimId>& plates = graph.variable_plates()[*graph.find(variable)];
    const auto axis = axis_of(graph, plates, states.shape().size(), plate);
    IntegerView kept = axis ? tensor::taken(states, *axis, slices) : states;
    if (is_any_observed(kept)) result.data.states.emplace(variable, std::move(kept));
  }
  for (const auto& [variable, list] : all.lists) {
    Long kept = list.slices.contains(name) ? taken(list, name, graph.dims()[plate].size, slices) : list;
    if (is_any_observed(kept.states)) result.data.lists.emplace(variable, std::move(kept));
  }
  take_likelihoods(model, plate, slices, result);
  for (const auto& [dim, lengths] : all.lengths) {
    const auto axis = axis_of(graph, plates_of_lengths(graph, *graph.find(dim)), lengths.shape.size(), plate);
    result.data.lengths.emplace(dim,
                                axis ? tensor::taken(IntegerView::view(lengths), *axis, slices).integers() : lengths);
  }
  const auto weight = result.data.weights.find(name);
  if (weight != result.data.weights.end() && weight->second.rank() > 0)
    weight->second = taken(weight->second, 0, slices);
  return result;
}

}  // namespace plated::learn
