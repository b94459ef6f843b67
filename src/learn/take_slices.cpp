// Takes some slices of a plate from a model and its data.
#include "learn/take_slices.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/write_entries.hpp"
#include "graph/answer_axes.hpp"
#include "graph/length_axes.hpp"
#include "model/likelihoods.hpp"
#include "tensor/check_entries.hpp"
#include "tensor/taken.hpp"

namespace plated::learn {
namespace {

using Slices = std::vector<std::int64_t>;

/// A view of so many slices along an axis.
Tensor range_of(const Tensor& all, std::size_t axis, std::int64_t first, std::int64_t count) {
  Tensor::Shape shape = all.shape();
  shape[axis] = count;
  const auto view = [&]<class T>(T* data) {
    return Tensor::view(data + first * all.strides()[axis], shape, all.strides());
  };
  return all.dtype() == Dtype::float32 ? view(all.data<const float>()) : view(all.data<const double>());
}

/// Slices that are neighbours are copied together.
Tensor taken(const Tensor& all, std::size_t axis, const Slices& slices) {
  Tensor::Shape shape = all.shape();
  shape[axis] = std::ssize(slices);
  Tensor some = Tensor::uninitialised(all.dtype(), shape);
  for (std::size_t begin = 0, end = 0; begin < slices.size(); begin = end) {
    while (end < slices.size() && slices[end] - slices[begin] == static_cast<std::int64_t>(end - begin)) ++end;
    const auto count = static_cast<std::int64_t>(end - begin);
    const Tensor from = range_of(all, axis, slices[begin], count);
    const auto copy = [&]<class T>(T* to) {
      engine::copy_entries(from, Tensor::view(to + static_cast<std::int64_t>(begin) * some.strides()[axis],
                                              from.shape(), some.strides()));
    };
    if (all.dtype() == Dtype::float32) {
      copy(static_cast<float*>(some.mutable_data()));
    } else {
      copy(static_cast<double*>(some.mutable_data()));
    }
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

/// The numbers of likelihoods, and the parameters of those that have an axis for the dim.
void take_likelihoods(const Model& observed, DimId dim, const Slices& slices, Model& result) {
  const FactorGraph& graph = observed.graph;
  for (auto& [name, numbers] : result.measurements) {
    const std::vector<DimId> plates = graph.factor_plates(model::factors_measuring(observed, name)[0]);
    const auto axis = axis_of(graph, plates, numbers.rank(), dim);
    if (axis) numbers = taken(numbers, *axis, slices);
  }
  for (std::size_t f = 0; f < observed.factors.size(); ++f) {
    const std::vector<DimId>& dims = graph.factors()[f].dims;
    const auto axis = axis_of(graph, dims, dims.size(), dim);
    if (!axis || model::likelihood_of(observed, f) == nullptr) continue;
    for (auto& [name, numbers] : result.likelihoods.find(graph.factors()[f].name)->second.parameters) {
      if (numbers.rank() > 0) numbers = taken(numbers, *axis, slices);
    }
  }
}

}  // namespace

Long rows_about(const Long& all, const std::string& dim, std::int64_t size, const Slices& slices) {
  std::vector<std::int64_t> number(static_cast<std::size_t>(size), -1);
  for (std::size_t k = 0; k < slices.size(); ++k) {
    number[static_cast<std::size_t>(slices[k])] = static_cast<std::int64_t>(k);
  }
  const IntegerView& about = all.slices.at(dim);
  Slices rows;
  for (std::size_t r = 0; r < about.size(); ++r) {
    if (number[static_cast<std::size_t>(about[r])] >= 0) rows.push_back(static_cast<std::int64_t>(r));
  }
  Long some{.states = tensor::taken(all.states, 0, rows)};
  for (const auto& [name, entries] : all.slices) {
    IntegerView& own = some.slices.emplace(name, tensor::taken(entries, 0, rows)).first->second;
    if (name != dim) continue;
    Integers numbered = own.integers();
    for (std::int64_t& slice : numbered.values) slice = number[static_cast<std::size_t>(slice)];
    own = std::move(numbered);
  }
  return some;
}

Model sliced(const Model& observed, Weights& weights, DimId dim, const Slices& slices) {
  const FactorGraph& graph = observed.graph;
  const std::string& name = graph.dims()[dim].name;
  Model result = observed;
  result.graph = graph.resized(name, std::ssize(slices));
  for (std::size_t f = 0; f < observed.factors.size(); ++f) {
    const std::vector<DimId>& dims = graph.factors()[f].dims;
    const auto axis = axis_of(graph, dims, dims.size(), dim);
    if (!axis) continue;
    result.factors[f] = taken(observed.factors[f], *axis, slices);
    const auto learning = result.learning.find(graph.factors()[f].name);
    if (learning != result.learning.end()) learning->second.prior = {};  // of all slices, and it is not learnt
  }
  for (auto& [variable, states] : result.evidence) {
    const std::vector<DimId>& plates = graph.variable_plates()[*graph.find(variable)];
    const auto axis = axis_of(graph, plates, states.shape().size(), dim);
    if (axis) states = tensor::taken(states, *axis, slices);
  }
  for (auto& [variable, list] : result.lists) {
    if (list.slices.contains(name)) list = rows_about(list, name, graph.dims()[dim].size, slices);
  }
  take_likelihoods(observed, dim, slices, result);
  for (auto& [ragged, lengths] : result.lengths) {
    const auto axis = axis_of(graph, plates_of_lengths(graph, *graph.find(ragged)), lengths.shape.size(), dim);
    if (axis) lengths = tensor::taken(IntegerView::view(lengths), *axis, slices).integers();
  }
  const auto weight = weights.find(name);
  if (weight != weights.end() && weight->second.rank() > 0) weight->second = taken(weight->second, 0, slices);
  return result;
}

ModelAndData take_slices(const Model& observed, const Weights& weights, DimId plate, const Slices& slices) {
  ModelAndData result{.model = {}, .data = {.weights = weights}};
  result.model = sliced(observed, result.data.weights, plate, slices);
  result.data.states = std::exchange(result.model.evidence, {});
  result.data.lists = std::exchange(result.model.lists, {});
  result.data.measurements = std::exchange(result.model.measurements, {});
  result.data.lengths = std::exchange(result.model.lengths, {});
  std::erase_if(result.data.states, [](const auto& entry) { return !is_any_observed(entry.second); });
  std::erase_if(result.data.lists, [](const auto& entry) { return !is_any_observed(entry.second.states); });
  std::erase_if(result.data.measurements, [](const auto& entry) {
    return std::all_of(entry.second.begin(), entry.second.end(), [](double number) { return std::isnan(number); });
  });
  return result;
}

}  // namespace plated::learn
