// Lays out observed numbers and parameters, and makes factors of them.
#include "model/measured.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "graph/answer_axes.hpp"
#include "graph/derived.hpp"
#include "graph/length_axes.hpp"
#include "graph/spell.hpp"
#include "model/likelihoods.hpp"
#include "model/listed.hpp"
#include "model/sizes.hpp"
#include "plated/error.hpp"

namespace plated::model {
namespace {

std::vector<std::int64_t> extents(const FactorGraph& graph, const std::vector<DimId>& dims) {
  return sizes_of(graph, dims, false);
}

/// Calls visit(number, index) for each index of a shape, in row-major order.
template <class Visit>
void each_cell(const std::vector<std::int64_t>& shape, const Visit& visit) {
  std::vector<std::int64_t> index(shape.size(), 0);
  for (const std::int64_t extent : shape) {
    if (extent == 0) return;
  }
  bool more = true;
  for (std::size_t n = 0; more; ++n) {
    visit(n, index);
    more = false;
    for (std::size_t k = index.size(); k-- > 0 && !more;) {
      more = ++index[k] < shape[k];
      if (!more) index[k] = 0;
    }
  }
}

/// For each axis of an array, the axis of the cells that is the same dim, or none.
std::size_t place_of(const std::vector<DimId>& cells, DimId dim) {
  return static_cast<std::size_t>(std::find(cells.begin(), cells.end(), dim) - cells.begin());
}

/// Numbers whose slices do not exist are missing.
void leave_out_padding(const Model& model, Measured& measured) {
  const std::vector<std::int64_t> shape = extents(model.graph, measured.cells);
  for (const auto& [name, lengths] : model.lengths) {
    const DimId plate = *model.graph.find(name);
    const std::size_t axis = place_of(measured.cells, plate);
    if (axis == measured.cells.size()) continue;
    std::vector<DimId> axes = graph::length_axes(model.graph, plate);
    const std::size_t batch = graph::batch_axes(model.graph).size();
    if (lengths.shape.size() + batch == axes.size())
      axes.erase(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(batch));
    std::vector<std::size_t> places;
    for (const DimId dim : axes) places.push_back(place_of(measured.cells, dim));
    const bool held = std::all_of(places.begin(), places.end(), [&](std::size_t p) { return p < shape.size(); });
    if (lengths.shape.size() != axes.size() || !held) continue;  // a run refuses them
    std::vector<std::int64_t> at(places.size());
    each_cell(shape, [&, &lengths = lengths](std::size_t n, const std::vector<std::int64_t>& index) {
      for (std::size_t k = 0; k < places.size(); ++k) at[k] = index[places[k]];
      if (index[axis] >= lengths.at(at)) measured.numbers[n] = std::numeric_limits<double>::quiet_NaN();
    });
  }
}

/// Which parameters each cell has, and where those of each component lie among the factor's entries.
void lay_out(const FactorGraph& graph, const Factor& factor, Measured& measured) {
  std::vector<DimId> own;  // dims whose slices have parameters of their own, as the cells have them
  for (const DimId dim : measured.cells) {
    if (graph::contains(factor.dims, dim)) own.push_back(dim);
  }
  std::vector<DimId> order = own;
  order.insert(order.end(), measured.parents.begin(), measured.parents.end());
  const Tensor::Shape strides = Tensor::row_major(extents(graph, factor.dims));
  each_cell(extents(graph, order), [&](std::size_t, const std::vector<std::int64_t>& index) {
    std::int64_t entry = 0;
    for (std::size_t k = 0; k < order.size(); ++k) entry += index[k] * strides[place_of(factor.dims, order[k])];
    measured.entries.push_back(static_cast<std::size_t>(entry));
  });
  for (const DimId dim : own) measured.group_count *= static_cast<std::size_t>(graph.dims()[dim].size);
  for (const DimId dim : measured.parents) measured.parent_states *= static_cast<std::size_t>(graph.dims()[dim].size);
  if (own.empty()) return;
  measured.groups.resize(measured.numbers.size());
  each_cell(extents(graph, measured.cells), [&](std::size_t n, const std::vector<std::int64_t>& index) {
    std::uint32_t group = 0;
    for (const DimId dim : own) {
      group = group * static_cast<std::uint32_t>(graph.dims()[dim].size) +
              static_cast<std::uint32_t>(index[place_of(measured.cells, dim)]);
    }
    measured.groups[n] = group;
  });
}

/// "(3, 5)"
std::string index_of(std::size_t cell, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> index(shape.size());
  auto rest = static_cast<std::int64_t>(cell);
  for (std::size_t k = shape.size(); k-- > 0;) {
    index[k] = rest % shape[k];
    rest /= shape[k];
  }
  return graph::as_shape(index);
}

std::string as_number(double number) {
  std::string text(32, '\0');
  text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.9g", number)));
  return text;
}

Tensor log_probabilities_of(const Model& model, std::size_t factor, const Likelihood& likelihood,
                            const Measured& measured, const std::vector<std::int64_t>& shape) {
  if (likelihood.parameters.empty()) {
    throw OperandCountError("the likelihood " + graph::quoted(model.graph.factors()[factor].name) +
                            " has no parameters yet: it is to be learnt");
  }
  const likelihood::Components components = components_of(likelihood, std::span(&measured, 1));
  check_support(model, factor, measured, components);
  const likelihood::Cells cells(components.density(), components.inflated(), measured.numbers, measured.groups);
  Tensor logs = Tensor::uninitialised(Dtype::float64, shape);
  components.write(components.prepared(coordinates_of(likelihood, measured, components)), cells, {0, cells.size()},
                   static_cast<double*>(logs.mutable_data()));
  return logs;
}

}  // namespace

Measured measured(const Model& model, std::size_t factor) {
  Measured result;
  result.cells = model.graph.factor_plates(factor);
  const Factor& held = model.graph.factors()[factor];
  for (const DimId dim : held.dims) {
    if (!graph::contains(result.cells, dim)) result.parents.push_back(dim);
  }
  const auto found = model.measurements.find(measured_name(model, factor));
  if (found != model.measurements.end()) {
    if (found->second.rank() > result.cells.size()) {
      const std::vector<DimId> batch = graph::batch_axes(model.graph);
      result.cells.insert(result.cells.begin(), batch.begin(), batch.end());
    }
    result.numbers = found->second.values();
    leave_out_padding(model, result);
  }
  lay_out(model.graph, held, result);
  return result;
}

std::vector<double> seen_numbers(const Likelihood& likelihood, std::span<const Measured> all) {
  std::vector<double> seen;
  for (const Measured& one : all) {
    for (const double number : one.numbers) {
      if (!std::isnan(number) && (number != 0 || !likelihood.zero_inflated)) seen.push_back(number);
    }
  }
  return seen;
}

likelihood::Components components_of(const Likelihood& likelihood, std::span<const Measured> all) {
  std::vector<double> seen = seen_numbers(likelihood, all);
  std::erase_if(seen, [](double number) { return std::isinf(number); });  // no likelihood supports them
  const likelihood::Spread spread = likelihood::spread_of(seen);
  std::size_t states = parameter_states(likelihood);
  if (states == 0) states = static_cast<std::size_t>(std::clamp(spread.most, 0.0, 1e6)) + 1;
  return {likelihood::make_density(likelihood.family, spread, states), likelihood.zero_inflated, all[0].group_count,
          all[0].parent_states};
}

void check_support(const Model& model, std::size_t factor, const Measured& measured,
                   const likelihood::Components& components) {
  for (std::size_t n = 0; n < measured.numbers.size(); ++n) {
    const double number = measured.numbers[n];
    if (std::isnan(number) || components.supports(number)) continue;
    const bool zero = number == 0;
    throw ValueError("the data of " + graph::quoted(measured_name(model, factor)) + " have " + as_number(number) +
                     " at " + index_of(n, extents(model.graph, measured.cells)) + ", and the likelihood " +
                     graph::quoted(model.graph.factors()[factor].name) + " is of " + components.density().support() +
                     (zero ? "; zeros may be 'zero_inflated'" : ""));
  }
}

std::vector<double> coordinates_of(const Likelihood& likelihood, const Measured& measured,
                                   const likelihood::Components& components) {
  std::vector<double> result(components.size());
  std::vector<std::vector<double>> lists;
  for (const std::string& name : parameter_names(likelihood.family, likelihood.zero_inflated)) {
    lists.push_back(likelihood.parameters.at(name).values());
  }
  const std::size_t entries = measured.entries.size();
  const std::size_t own = components.density().coordinates();
  std::vector<double> parameters;
  for (std::size_t k = 0; k < entries; ++k) {
    parameters.clear();
    for (const std::vector<double>& list : lists) {
      const std::size_t each = std::max<std::size_t>(list.size() / std::max<std::size_t>(entries, 1), 1);
      const std::size_t at = list.size() == 1 ? 0 : measured.entries[k] * each;
      for (std::size_t s = 0; s < each; ++s) parameters.push_back(list[at + s]);
    }
    const std::span<double> at = components.component(std::span(result), k);
    components.density().from_parameters(parameters, at.first(own));
    if (components.inflated()) at.back() = parameters.back();
  }
  return result;
}

std::map<std::string, Tensor> by_parameter(std::span<const double> numbers, const Measured& measured,
                                           const likelihood::Components& components, const Tensor::Shape& shape,
                                           const Likelihood& likelihood) {
  const std::vector<std::string> names = parameter_names(likelihood.family, likelihood.zero_inflated);
  const std::size_t entries = measured.entries.size();
  // A list of probabilities is one parameter, with one more axis.
  const bool listed = names[0] == "probabilities";
  const std::size_t states = listed ? components.density().coordinates() : 1;
  std::map<std::string, Tensor> result;
  for (std::size_t p = 0; p < names.size(); ++p) {
    const std::size_t each = p == 0 ? states : 1;
    const std::size_t first = p == 0 ? 0 : p + states - 1;
    std::vector<double> list(entries * each);
    for (std::size_t k = 0; k < entries; ++k) {
      const std::span<const double> own = components.component(numbers, k).subspan(first, each);
      std::copy(own.begin(), own.end(), list.begin() + static_cast<std::ptrdiff_t>(measured.entries[k] * each));
    }
    Tensor::Shape axes = shape;
    if (p == 0 && listed) axes.push_back(static_cast<std::int64_t>(states));
    result.emplace(names[p], Tensor::of<double>(axes, list));
  }
  return result;
}

void put_parameters(std::span<const double> coordinates, const Measured& measured,
                    const likelihood::Components& components, const Tensor::Shape& shape, Likelihood& likelihood) {
  const std::size_t own = components.density().coordinates();
  std::vector<double> parameters(coordinates.begin(), coordinates.end());
  for (std::size_t k = 0; k < components.count(); ++k) {
    components.density().to_parameters(components.component(coordinates, k).first(own),
                                       components.component(std::span(parameters), k).first(own));
  }
  likelihood.parameters = by_parameter(parameters, measured, components, shape, likelihood);
}

Model bound(Model model, const std::vector<bool>& open) {
  if (model.measurements.empty() && model.lists.empty()) return model;
  Model result = in_space(model, Space::log);
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    const Likelihood* const likelihood = likelihood_of(model, f);
    if (likelihood == nullptr || !model.measurements.contains(measured_name(model, f))) continue;
    const Measured numbers = measured(model, f);
    Factor factor = model.graph.factors()[f];
    factor.dims = numbers.cells;
    factor.dims.insert(factor.dims.end(), numbers.parents.begin(), numbers.parents.end());
    factor.tied.clear();
    const std::vector<std::int64_t> shape = extents(model.graph, factor.dims);
    // What is open takes no memory: others put numbers of their own in its place.
    result.factors[f] = !open.empty() && open[f] ? Tensor::scalar(0.0).broadcast(shape)
                                                 : log_probabilities_of(model, f, *likelihood, numbers, shape);
    graph::Derived::put_factor(result.graph, f, std::move(factor));
  }
  result.measurements.clear();
  for (const auto& [variable, list] : model.lists) Listed(result, variable, list).put_message(result);
  return result;
}

}  // namespace plated::model
