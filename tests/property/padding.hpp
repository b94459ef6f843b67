// Spoils what a run must not read: entries of operands beyond the lengths of chains become NaN.
#pragma once

#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "oracle/world.hpp"

namespace plated::test {

/// The entries of each operand that some copy of its factor may read.
inline std::vector<std::vector<bool>> entries_read(const FactorGraph& graph, const Lengths& lengths) {
  std::vector<std::vector<bool>> read;
  for (const Factor& factor : graph.factors()) {
    std::size_t entries = 1;
    for (const DimId d : factor.dims) entries *= static_cast<std::size_t>(graph.dims()[d].size);
    read.emplace_back(entries, false);
  }
  oracle::Index at(graph.dims().size(), 0);
  oracle::for_each_index(graph, oracle::Slices(graph, {}).batch(), at, [&] {
    const oracle::World world(graph, at, {}, lengths);
    for (const oracle::Site& site : world.factors) {
      // All states of the site's variables, one variable after the other.
      std::map<std::size_t, std::int64_t> strides;
      for (const auto& [variable, stride] : site.variables) strides[variable] += stride;
      std::vector<std::int64_t> offsets{site.base};
      for (const auto& [variable, stride] : strides) {
        std::vector<std::int64_t> moved;
        for (const std::int64_t offset : offsets) {
          for (std::int64_t s = 0; s < world.domains[variable]; ++s) moved.push_back(offset + s * stride);
        }
        offsets = std::move(moved);
      }
      for (const std::int64_t offset : offsets) read[site.owner][static_cast<std::size_t>(offset)] = true;
    }
  });
  return read;
}

/// Where each entry of a tensor lies in memory, in row-major order.
inline std::vector<std::int64_t> places_of(const Tensor& tensor) {
  std::vector<std::int64_t> places{0};
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
    std::vector<std::int64_t> longer;
    for (const std::int64_t place : places) {
      for (std::int64_t k = 0; k < tensor.shape()[axis]; ++k) longer.push_back(place + k * tensor.strides()[axis]);
    }
    places = std::move(longer);
  }
  return places;
}

/// Writes NaN into every entry of operands whose index on a chain's axis is beyond all lengths it may stand for, unless
/// an entry that is read lies at the same place.
inline void spoil_padding(const FactorGraph& graph, const Lengths& lengths, const std::vector<Tensor>& operands) {
  const auto all = entries_read(graph, {});
  for (std::size_t f = 0; f < operands.size(); ++f) {
    Lengths of_axes;
    for (const DimId d : graph.factors()[f].dims) {
      const auto given = lengths.find(graph.dims()[d].name);
      if (given != lengths.end()) of_axes.insert(*given);
    }
    if (of_axes.empty()) continue;
    const std::vector<bool> read = entries_read(graph, of_axes)[f];
    const std::vector<std::int64_t> places = places_of(operands[f]);
    std::set<std::int64_t> kept;
    for (std::size_t k = 0; k < read.size(); ++k) {
      if (read[k] || !all[f][k]) kept.insert(places[k]);
    }
    for (const std::int64_t place : places) {
      if (kept.contains(place)) continue;
      if (operands[f].dtype() == Dtype::float32) {
        static_cast<float*>(operands[f].mutable_data())[place] = std::numeric_limits<float>::quiet_NaN();
      } else {
        static_cast<double*>(operands[f].mutable_data())[place] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
}

}  // namespace plated::test
