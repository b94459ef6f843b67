// Spells dims, factors and shapes.
#include "graph/spell.hpp"

#include <algorithm>

#include "graph/characters.hpp"

namespace plated::graph {
namespace {

template <class Range, class Spell>
std::string joined(const Range& items, std::string_view separator, const Spell& spell) {
  std::string result;
  for (const auto& item : items) {
    if (!result.empty()) result += separator;
    result += spell(item);
  }
  return result;
}

}  // namespace

bool contains(std::span<const DimId> dims, DimId dim) { return std::find(dims.begin(), dims.end(), dim) != dims.end(); }

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

std::string spaced(const FactorGraph& graph, std::span<const DimId> dims) {
  return joined(dims, " ", [&](DimId d) { return graph.dims()[d].name; });
}

std::string as_term(const FactorGraph& graph, std::span<const DimId> dims) {
  const bool letters = std::all_of(dims.begin(), dims.end(), [&](DimId d) {
    const Dim& dim = graph.dims()[d];
    return count_code_points(dim.end == End::none ? dim.name : graph.dims()[dim.of].name) == 1;
  });
  return "\"" + joined(dims, letters ? "" : " ", [&](DimId d) { return graph.dims()[d].name; }) + "\"";
}

std::string spaced(const FactorGraph& graph, const Factor& factor) {
  std::string result = factor.tied.empty() ? "" : "(" + spaced(graph, factor.tied) + ")";
  if (!factor.tied.empty() && !factor.dims.empty()) result += " ";
  return result + spaced(graph, factor.dims);
}

std::string as_set(const FactorGraph& graph, std::span<const DimId> dims) {
  return "{" + joined(dims, ", ", [&](DimId d) { return quoted(graph.dims()[d].name); }) + "}";
}

std::string kind_name(DimKind kind) {
  switch (kind) {
    case DimKind::variable:
      return "variable";
    case DimKind::plate:
      return "plate";
    case DimKind::batch:
      return "batch dim";
    case DimKind::chain:
      return "chain";
  }
  return "";
}

std::string numbered_factor(std::size_t index) { return std::string("f") += std::to_string(index); }

std::string as_shape(std::span<const std::int64_t> shape) {
  return "(" + joined(shape, ", ", [](std::int64_t size) { return std::to_string(size); }) + ")";
}

}  // namespace plated::graph
