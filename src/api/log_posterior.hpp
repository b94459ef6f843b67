// Totals in log space turned into posteriors, in double before they are rounded to the answer's type.
#pragma once

#include <vector>

#include "plated/factor_graph.hpp"
#include "plated/tensor.hpp"

namespace plated::api {

/// A tensor with the given entries, rounded to its type.
[[nodiscard]] Tensor filled(Dtype dtype, const Tensor::Shape& shape, const std::vector<double>& values);

/// Each slice of a joint in log space divided by its own total, or the logarithm of that; slices of no mass stay
/// without. Slices are `states` long, and the joint is float64 and row-major. What rounding does to a whole slice,
/// along a plate or a chain, cancels: sums are one, and no probability is larger.
[[nodiscard]] Tensor posterior(const Tensor& joint, std::int64_t states, bool log, Dtype dtype);

/// A factor's posterior in its operand's shape, from the joint of its variables with axes batch, plates, states: the
/// mean over slices that the operand has no axis for, nothing off the diagonal of repeated dims. Slices
/// that do not exist do not count.
[[nodiscard]] Tensor factor_posterior(const FactorGraph& graph, std::size_t factor, const std::vector<DimId>& axes,
                                      const Tensor& joint, bool log, Dtype dtype);

/// log Z − log Z without slice i, float64. Throws ImpossibleError where the latter is −inf.
[[nodiscard]] Tensor predictive(const FactorGraph& graph, DimId plate, const Tensor& log_partition,
                                const Tensor& without);

/// All variables of a graph, ends of chains not among them, and the graph asked for an output for each of them.
[[nodiscard]] std::vector<DimId> variables(const FactorGraph& graph);
[[nodiscard]] FactorGraph asking_each(const FactorGraph& graph, const std::vector<DimId>& variables);

}  // namespace plated::api
