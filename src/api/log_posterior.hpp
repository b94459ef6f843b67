// Totals in log space turned into posteriors, in double before they are rounded to the answer's type.
#pragma once

#include <vector>

#include "plated/factor_graph.hpp"
#include "plated/tensor.hpp"

namespace plated::api {

/// A tensor with the given entries, rounded to its type.
[[nodiscard]] Tensor filled(Dtype dtype, const Tensor::Shape& shape, const std::vector<double>& values);

/// p = exp(joint − log Z), or its logarithm. The joint's leading axes are the batch dims, which log Z has alone; both
/// are float64 and row-major.
[[nodiscard]] Tensor posterior(const Tensor& joint, const Tensor& log_partition, bool log, Dtype dtype);

/// A factor's posterior in its operand's shape, from the joint of its variables with axes batch, plates, states: the
/// mean over slices that the operand has no axis for, nothing off the diagonal of repeated dims. Where chains are
/// `ragged`, over those that exist.
[[nodiscard]] Tensor factor_posterior(const FactorGraph& graph, std::size_t factor, const std::vector<DimId>& axes,
                                      const Tensor& joint, const Tensor& log_partition, bool log, Dtype dtype,
                                      bool ragged);

/// Brings the total over the states in each slice of a chain to log Z, as it must be but for rounding. The axes name
/// the joint's, which are batch dims first; slices whose total is −inf stay as they are. Without a chain among the axes
/// nothing changes.
void level_slices(const FactorGraph& graph, const std::vector<DimId>& axes, const Tensor& log_partition, Tensor& joint);

/// log Z − log Z without slice i. Throws ImpossibleError where the latter is −inf.
[[nodiscard]] Tensor predictive(const FactorGraph& graph, DimId plate, const Tensor& log_partition,
                                const Tensor& without, Dtype dtype);

/// All variables of a graph, ends of chains not among them, and the graph asked for an output for each of them.
[[nodiscard]] std::vector<DimId> variables(const FactorGraph& graph);
[[nodiscard]] FactorGraph asking_each(const FactorGraph& graph, const std::vector<DimId>& variables);

}  // namespace plated::api
