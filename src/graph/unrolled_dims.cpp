// Copies dims over slices.
#include "graph/unrolled_dims.hpp"

#include <algorithm>

#include "graph/ends.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"

namespace plated::graph {
namespace {

/// The dims that a variable leaves of itself when `plate`, which it is in, is unrolled.
std::int64_t copies_of(const FactorGraph& graph, const LinkPaths& paths, DimId variable, DimId plate) {
  const std::int64_t slices = graph.dims()[plate].size;
  const auto& place = paths.place(variable);
  if (!place || paths.all()[place->path].chain != plate) return slices;
  return place->offset > 0 ? 0 : slices + paths.all()[place->path].order();
}

}  // namespace

std::string copy_name(const std::string& name, const std::string& plate, std::int64_t slice) {
  const std::string index = plate + "=" + std::to_string(slice) + "]";
  return name.ends_with(']') ? name.substr(0, name.size() - 1) + "," + index : name + "[" + index;
}

void check_copies(const FactorGraph& graph, const std::vector<std::vector<DimId>>& variable_plates,
                  const std::vector<DimId>& unrolled) {
  const LinkPaths paths(graph);
  double count = 0;  // exact far beyond the limit; capped, since an infinity times an empty plate would be NaN
  const auto add = [&](const std::vector<DimId>& dims, const auto& copies_in) {
    double copies = 1;
    for (const DimId plate : unrolled) {
      if (contains(dims, plate)) copies = std::min(copies * static_cast<double>(copies_in(plate)), 1e30);
    }
    count += copies;
  };
  const auto slices = [&](DimId plate) { return graph.dims()[plate].size; };
  for (DimId v = 0; v < graph.dims().size(); ++v) {
    add(variable_plates[v], [&](DimId plate) { return copies_of(graph, paths, v, plate); });
  }
  for (std::size_t f = 0; f < graph.factors().size(); ++f) add(graph.factor_plates(f), slices);
  for (const Output& output : graph.outputs()) add(output.dims, slices);
  if (count <= 2147483648.0) return;
  throw SizeOverflowError("unrolling " + as_set(graph, unrolled) + " makes more than 2^31 copies");
}

UnrolledDims::UnrolledDims(const FactorGraph& graph, DimId unrolled,
                           const std::vector<std::vector<DimId>>& variable_plates)
    : unrolled_(unrolled) {
  check_copies(graph, variable_plates, {unrolled});
  const LinkPaths paths(graph);
  const auto& dims = graph.dims();
  std::int64_t next = 0;
  for (DimId d = 0; d < dims.size(); ++d) {
    inside_.push_back(contains(variable_plates[d], unrolled));
    count_.push_back(inside_[d] ? copies_of(graph, paths, d, unrolled) : d == unrolled ? 0 : 1);
    const bool end = dims[d].end != End::none;
    if (end && chain_of_ends(graph, dims[d].of, variable_plates[dims[d].of]) == unrolled) count_[d] = 0;
    first_.push_back(next);
    next += count_[d];
  }
  for (const LinkPath& path : paths.all()) {
    if (path.chain != unrolled) continue;
    for (const DimId v : path.variables) first_[v] = first_[path.variables.front()] + paths.place(v)->offset;
  }
  for (DimId d = 0; d < dims.size(); ++d) {
    if (dims[d].end == End::none || count_[d] > 0) continue;
    if (chain_of_ends(graph, dims[d].of, variable_plates[dims[d].of]) != unrolled) continue;
    first_[d] = first_[dims[d].of] + (dims[d].end == End::first ? 0 : dims[unrolled].size - 1);
  }
}

DimId UnrolledDims::of(DimId dim, std::int64_t slice) const {
  return static_cast<DimId>(first_[dim] + (inside_[dim] ? slice : 0));
}

std::vector<DimId> UnrolledDims::of(const std::vector<DimId>& dims, std::int64_t slice) const {
  std::vector<DimId> result;
  for (const DimId dim : dims) {
    if (dim != unrolled_) result.push_back(of(dim, slice));
  }
  return result;
}

}  // namespace plated::graph
