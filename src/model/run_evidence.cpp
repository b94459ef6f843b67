// Puts the axes of chains behind those of plates.
#include "model/run_evidence.hpp"

#include <algorithm>

namespace plated::model {
namespace {

/// Axis k of the result is axes[k] of the original.
Integers permuted(const Integers& original, const std::vector<std::size_t>& axes) {
  const Tensor::Shape strides = Tensor::row_major(original.shape);
  Integers result = original;
  for (std::size_t k = 0; k < axes.size(); ++k) result.shape[k] = original.shape[axes[k]];
  for (std::size_t n = 0; n < result.values.size(); ++n) {
    auto rest = static_cast<std::int64_t>(n);
    std::int64_t from = 0;
    for (std::size_t k = axes.size(); k-- > 0;) {
      from += rest % result.shape[k] * strides[axes[k]];
      rest /= result.shape[k];
    }
    result.values[n] = original.values[static_cast<std::size_t>(from)];
  }
  return result;
}

}  // namespace

Evidence run_evidence(const FactorGraph& graph, Evidence evidence) {
  for (auto& [name, states] : evidence) {
    const std::vector<DimId>& plates = graph.variable_plates()[*graph.find(name)];
    const auto is_chain = [&](DimId d) { return graph.dims()[d].kind == DimKind::chain; };
    if (std::is_partitioned(plates.begin(), plates.end(), [&](DimId d) { return !is_chain(d); })) {
      continue;
    }
    const std::size_t leading = states.shape.size() - plates.size();  // batch dims
    std::vector<std::size_t> axes;
    for (std::size_t k = 0; k < leading; ++k) axes.push_back(k);
    for (const bool chains : {false, true}) {
      for (std::size_t k = 0; k < plates.size(); ++k) {
        if (is_chain(plates[k]) == chains) axes.push_back(leading + k);
      }
    }
    states = permuted(states, axes);
  }
  return evidence;
}

}  // namespace plated::model
