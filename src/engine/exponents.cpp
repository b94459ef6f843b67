// Checks weights of plates, and makes exponents of them and of lengths.
#include "engine/exponents.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/checked_size.hpp"
#include "engine/check_operands.hpp"
#include "engine/each_index.hpp"
#include "graph/answer_axes.hpp"
#include "graph/length_axes.hpp"
#include "graph/spell.hpp"
#include "planner/point_ends.hpp"
#include "plated/error.hpp"
#include "tensor/check_entries.hpp"

namespace plated::engine {
namespace {

using base::SortedSet;
using graph::quoted;
using planner::sizes;

/// Throws ValueError for a weight that is none.
void check_weight(const std::string& plate, const Tensor& given, std::size_t k, double weight) {
  if (std::isfinite(weight) && weight >= 0) return;
  throw ValueError("the weights of plate " + quoted(plate) + " have the value " + std::to_string(weight) +
                   (given.rank() == 0 ? "" : " at index (" + std::to_string(k) + ")") +
                   ", and weights are finite and not negative");
}

/// The weights of a plate, for each of its slices.
std::vector<double> checked_weights(const std::string& plate, std::int64_t size, const Tensor& given) {
  const std::string what = "the weights of plate " + quoted(plate);
  if (given.rank() != 0 && given.shape() != Tensor::Shape{size}) {
    throw SizeError(what + " have the shape " + shape_text(given.shape()) + ", but it has " + std::to_string(size) +
                    " slices: give one weight for each, or a single one for all");
  }
  if (given.data() == nullptr && given.elements() > 0) throw NullDataError(what + " have no data");
  std::vector<double> values = given.elements() > 0 ? given.values() : std::vector<double>{};
  for (std::size_t k = 0; k < values.size(); ++k) check_weight(plate, given, k, values[k]);
  if (given.rank() == 0) values.assign(static_cast<std::size_t>(size), values[0]);
  return values;
}

/// Ones and zeros.
Exponent presence(std::int64_t size, DimId plate, const Ragged& ragged) {
  Exponent result{.axes = ragged.dims, .values = {}};
  result.axes.push_back(plate);
  for (const std::int64_t length : ragged.values) {
    for (std::int64_t i = 0; i < size; ++i) result.values.push_back(i < length ? 1 : 0);
  }
  return result;
}

/// Whether an index over some dims lies in slices that exist.
bool exists(const RaggedDims& lengths, const std::vector<DimId>& dims, const std::vector<std::int64_t>& at) {
  const auto index = [&](DimId d) {
    return at[static_cast<std::size_t>(std::find(dims.begin(), dims.end(), d) - dims.begin())];
  };
  return std::all_of(lengths.begin(), lengths.end(), [&](const auto& entry) {
    const auto& [dim, ragged] = entry;
    const auto is_known = [&](DimId d) { return holds(dims, d); };
    if (!is_known(dim) || !std::all_of(ragged.dims.begin(), ragged.dims.end(), is_known)) return true;
    std::int64_t row = 0;
    for (std::size_t axis = 0; axis < ragged.dims.size(); ++axis)
      row = row * ragged.sizes[axis] + index(ragged.dims[axis]);
    return index(dim) < ragged.values[static_cast<std::size_t>(row)];
  });
}

/// Without slices there are no variables of slices: throws PlateError, or ValueError for a row without any, where a
/// factor or output holds an end of one.
void check_held(const FactorGraph& graph, const planner::Extents& extents, const RaggedDims& lengths, DimId chain,
                DimId end) {
  const auto holds_end = [&](const auto& holder) { return holds(holder.dims, end); };
  const auto factor = std::find_if(graph.factors().begin(), graph.factors().end(), holds_end);
  const auto output = std::find_if(graph.outputs().begin(), graph.outputs().end(), holds_end);
  if (factor == graph.factors().end() && output == graph.outputs().end()) return;
  std::string text = factor != graph.factors().end() ? "factor " + quoted(factor->name)
                                                     : "output " + std::to_string(output - graph.outputs().begin());
  text.append(" holds ").append(quoted(graph.dims()[end].name)).append(", but chain ");
  text.append(quoted(graph.dims()[chain].name));
  const std::vector<DimId>& plates = graph.variable_plates()[end];
  const bool is_there = std::all_of(plates.begin(), plates.end(), [&](DimId plate) { return extents[plate] > 0; });
  if (extents[chain] == 0 && is_there) throw PlateError(text.append(" has no slices, and so no such variable"));
  const auto given = lengths.find(chain);
  if (given == lengths.end()) return;
  const Ragged& ragged = given->second;
  for (std::size_t k = 0; k < ragged.values.size(); ++k) {
    if (ragged.values[k] > 0) continue;
    std::vector<std::int64_t> at(ragged.dims.size());
    std::string where;
    auto row = static_cast<std::int64_t>(k);
    for (std::size_t axis = at.size(); axis-- > 0; row /= ragged.sizes[axis]) {
      at[axis] = row % ragged.sizes[axis];
      where.insert(
          0, (axis == 0 ? " at " : ", ") + graph.dims()[ragged.dims[axis]].name + " = " + std::to_string(at[axis]));
    }
    if (!exists(lengths, ragged.dims, at)) continue;
    throw ValueError(text.append(" has the length 0").append(where).append(", and so no such variable"));
  }
}

/// 1 in the slice that an end of a chain is of, and 1 where the end and its variable differ.
void add_point_end(const FactorGraph& graph, const planner::Extents& extents, const RaggedDims& lengths, DimId end,
                   Exponents& exponents) {
  const DimId chain = planner::chain_of(graph, end);
  const std::int64_t slices = extents[chain];
  Exponent in_slice;
  const auto ragged = lengths.find(chain);
  check_held(graph, extents, lengths, chain, end);
  if (ragged != lengths.end() && graph.dims()[end].end == End::last) {
    in_slice.axes = ragged->second.dims;
    for (const std::int64_t length : ragged->second.values) {
      for (std::int64_t t = 0; t < slices; ++t) in_slice.values.push_back(t + 1 == length ? 1 : 0);
    }
  } else {
    const std::int64_t only = graph.dims()[end].end == End::first ? 0 : slices - 1;
    for (std::int64_t t = 0; t < slices; ++t) in_slice.values.push_back(t == only ? 1 : 0);
  }
  in_slice.axes.push_back(chain);
  Exponent differs{.axes = {graph.dims()[end].of, end}, .values = {}};
  const std::int64_t states = extents[end];
  for (std::int64_t k = 0; k < states * states; ++k) differs.values.push_back(k / states == k % states ? 0 : 1);
  exponents[end] = std::move(in_slice);
  exponents[planner::differing(end)] = std::move(differs);
}

}  // namespace

Exponents exponents_of(const FactorGraph& graph, const planner::Extents& extents, const RaggedDims& lengths,
                       const Weights& weights) {
  Exponents result;
  for (const auto& [plate, ragged] : lengths) result[plate] = presence(extents[plate], plate, ragged);
  for (const auto& [name, given] : weights) {
    const DimId plate = plate_named(graph, name, "weights");
    const std::vector<double> each = checked_weights(name, extents[plate], given);
    const auto [known, is_new] = result.try_emplace(plate, Exponent{{plate}, each});
    for (std::size_t k = 0; !is_new && k < known->second.values.size(); ++k) {
      known->second.values[k] *= each[k % each.size()];
    }
  }
  return result;
}

void renew_weights(const FactorGraph& graph, const Weights& weights, Exponents& exponents) {
  for (const auto& [name, given] : weights) {
    std::vector<double>& values = exponents.at(*graph.find(name)).values;
    Tensor::Iterator entry = given.begin();
    for (std::size_t k = 0; k < values.size(); ++k) {
      values[k] = given.rank() == 0 ? *given.begin() : *entry++;
      check_weight(name, given, k, values[k]);
    }
  }
}

std::map<DimId, std::vector<DimId>> exponent_axes(const FactorGraph& graph, const std::vector<std::string>& weights,
                                                  const std::vector<std::string>& lengths) {
  std::map<DimId, std::vector<DimId>> result;
  for (const std::string& name : weights) {
    const DimId plate = plate_named(graph, name, "weights");
    result[plate] = {plate};
  }
  for (const std::string& name : lengths) {
    const DimId plate = plate_named(graph, name, "lengths");
    result[plate] = graph::length_axes(graph, plate);
    result[plate].push_back(plate);
  }
  return result;
}

void add_point_ends(const FactorGraph& graph, const planner::Extents& extents, const RaggedDims& lengths,
                    Exponents& exponents) {
  if (graph.chains().empty()) return;
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    if (planner::is_point_end(graph, d)) add_point_end(graph, extents, lengths, d, exponents);
  }
}

std::vector<Tensor> exponent_operands(const planner::Extents& extents, const Exponents& exponents) {
  std::vector<Tensor> operands;
  for (const auto& [plate, exponent] : exponents) {
    operands.push_back(Tensor::of(planner::sizes(extents, exponent.axes), exponent.values));
  }
  return operands;
}

std::vector<double> product_over(const planner::Extents& extents, const Exponents& exponents,
                                 const std::vector<DimId>& dims) {
  const std::vector<std::int64_t> shape = planner::sizes(extents, dims);
  std::vector<double> product(static_cast<std::size_t>(base::checked_product(shape)), 1.0);
  for (const auto& entry : exponents) {
    const Exponent& exponent = entry.second;
    if (!holds(dims, entry.first)) continue;
    std::vector<DimId> kept;
    for (const DimId d : exponent.axes) {
      if (holds(dims, d)) kept.push_back(d);
    }
    const std::vector<std::int64_t> strides = Tensor::row_major(planner::sizes(extents, kept));
    const auto place = [&](const std::vector<DimId>& axes, const std::vector<std::int64_t>& at) {
      std::int64_t offset = 0;
      for (std::size_t k = 0; k < axes.size(); ++k) {
        const auto found = std::find(kept.begin(), kept.end(), axes[k]);
        if (found != kept.end()) offset += at[k] * strides[static_cast<std::size_t>(found - kept.begin())];
      }
      return static_cast<std::size_t>(offset);
    };
    std::vector<double> largest(static_cast<std::size_t>(base::checked_product(planner::sizes(extents, kept))), 0.0);
    for_each_index(planner::sizes(extents, exponent.axes), [&](std::size_t k, const std::vector<std::int64_t>& at) {
      double& most = largest[place(exponent.axes, at)];
      most = std::max(most, exponent.values[k]);
    });
    for_each_index(shape,
                   [&](std::size_t k, const std::vector<std::int64_t>& at) { product[k] *= largest[place(dims, at)]; });
  }
  return product;
}

}  // namespace plated::engine
