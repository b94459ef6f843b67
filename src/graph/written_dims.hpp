// The rules for a factor's tied dims and for outputs, which the builder and equations share.
#pragma once

#include <string>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::graph {

/// The plates and chains among the dims that `where` is tied in. Throws PlateError for a variable and
/// DuplicateNameError for a dim that is tied twice or an axis as well.
[[nodiscard]] std::vector<DimId> tied_plates(const FactorGraph& graph, const std::vector<DimId>& axes,
                                             const std::vector<DimId>& tied, const std::string& where);

/// The graph's batch dims in declaration order.
[[nodiscard]] std::vector<DimId> batch_dims(const FactorGraph& graph);

/// An output's dims with the batch dims that are not written before them. Throws DuplicateNameError on repeats.
[[nodiscard]] Output complete_output(const FactorGraph& graph, const std::vector<DimId>& batch,
                                     const std::vector<DimId>& written, const std::string& where);

}  // namespace plated::graph
