// Totals in log space turned into posteriors, in double before they are rounded to the answer's type.
#pragma once

#include <string>
#include <vector>

#include "planner/extents.hpp"
#include "plated/factor_graph.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// A tensor with the given entries, rounded to its type.
[[nodiscard]] Tensor filled(Dtype dtype, const Tensor::Shape& shape, const std::vector<double>& values);
/// The same with one number everywhere.
[[nodiscard]] Tensor filled(Dtype dtype, const Tensor::Shape& shape, double value);
/// Writes an answer into a place, rounded to its type; where the place has no data, it is allocated in that dtype.
/// `what` and `name` begin the message of what is thrown: SizeError, ShapeError and OverlapError.
void put(const Tensor& answer, Dtype dtype, Tensor& place, const char* what, const std::string& name = {});
/// The same of a number everywhere, in a shape.
void put_everywhere(double value, const Tensor::Shape& shape, Dtype dtype, Tensor& place, const char* what,
                    const std::string& name);
/// The same of a number for each batch, the first axes, repeated over the others.
void put_repeated(const Tensor& numbers, const Tensor::Shape& shape, Dtype dtype, Tensor& place, const char* what,
                  const std::string& name);

/// Divides each slice of a joint in log space, in its own memory, by its own total, or makes it the logarithm of that;
/// slices of no mass stay without. Slices are `states` long, and the joint is float64 and row-major. What rounding does
/// to a whole slice, along a plate or a chain, cancels: sums are one, and no probability is larger.
void make_posterior(const Tensor& joint, std::int64_t states, bool log);

/// A factor's posterior in its operand's shape, from the joint of its variables, which is overwritten, with axes batch,
/// plates, states: the mean over slices that the operand has no axis for, nothing off the diagonal of repeated dims. An
/// entry of the joint counts as often as there are `copies` of its slice, once where none are given, and slices that do
/// not exist do not count.
[[nodiscard]] Tensor factor_posterior(const FactorGraph& graph, const planner::Extents& extents, std::size_t factor,
                                      const std::vector<DimId>& axes, const Tensor& joint,
                                      const std::vector<double>& copies, bool log, Dtype dtype);

/// log Z − log Z without slice i, in place of the latter; both are float64 and row-major. Throws ImpossibleError where
/// it is −inf.
void predict(const FactorGraph& graph, DimId plate, const Tensor& log_partition, const Tensor& without);

}  // namespace plated::engine
