// The inputs of a run: checked operands, and the evidence as further operands.
#pragma once

#include <span>
#include <vector>

#include "api/plan_impl.hpp"

namespace plated::api {

/// Throws what Plan::run throws for bad operands, and UnknownNameError or OptionError for evidence of what is not there
/// or not observable. Where operands are looked at at all, appends the largest finite magnitude of each.
void check_inputs(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options,
                  std::vector<double>* magnitudes = nullptr);
/// Throws ValueError where a result has overflowed, unless nothing is to be checked. `what` names it.
void check_results(std::span<const Tensor> results, const char* what, Semiring semiring, const RunOptions& options);

/// The operands followed by a tensor of ones and zeros for each observable variable, with axes batch, plates, states.
/// The operands must have been checked. Throws for evidence ShapeError and ValueError.
[[nodiscard]] std::vector<Tensor> with_evidence(const PlanImpl& plan, std::span<const Tensor> operands,
                                                const RunOptions& options);
/// An operand with the semiring's ones where a ragged chain has no slices: a copy, if it has an axis for one.
[[nodiscard]] Tensor without_padding(const std::vector<DimId>& dims, const Tensor& operand,
                                     const chain::RaggedChains& lengths, Semiring semiring);

/// The semiring that maximises what the given one adds up: max_plus for log, max_product for real, selective ones for
/// themselves. Throws OptionError for boolean.
[[nodiscard]] Semiring selective(Semiring semiring);

/// Throws ImpossibleError where a total is zero, and ValueError where it is NaN or infinite, naming the batch. Totals
/// have one entry for each batch.
void check_possible(const FactorGraph& graph, const Tensor& total, Semiring semiring);

/// A tensor of that shape all of whose entries are the same number in memory.
[[nodiscard]] Tensor constant(double value, Dtype dtype, const std::vector<std::int64_t>& shape);

}  // namespace plated::api
