// Puts the axes of chains behind those of plates.
#include "model/run_evidence.hpp"

#include <algorithm>

namespace plated::model {
Evidence run_evidence(const FactorGraph& graph, Evidence evidence) {
  for (auto& [name, states] : evidence) {
    const std::vector<DimId>& plates = graph.variable_plates()[*graph.find(name)];
    const auto is_chain = [&](DimId d) { return graph.dims()[d].kind == DimKind::chain; };
    if (std::is_partitioned(plates.begin(), plates.end(), [&](DimId d) { return !is_chain(d); })) {
      continue;
    }
    const std::size_t leading = states.shape().size() - plates.size();  // batch dims
    std::vector<std::size_t> axes;
    for (std::size_t k = 0; k < leading; ++k) axes.push_back(k);
    for (const bool chains : {false, true}) {
      for (std::size_t k = 0; k < plates.size(); ++k) {
        if (is_chain(plates[k]) == chains) axes.push_back(leading + k);
      }
    }
    states = states.permuted(axes);
  }
  return evidence;
}

}  // namespace plated::model
