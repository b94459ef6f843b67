// The inputs of a run: checked operands, and the evidence as further operands.
#pragma once

#include <span>
#include <vector>

#include "api/plan_impl.hpp"

namespace plated::api {

/// Throws what Plan::run throws for bad operands, and UnknownNameError or OptionError for evidence of what is not there
/// or not observable.
void check_inputs(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options);
/// The operands followed by the evidence, once they have been checked.
[[nodiscard]] std::vector<Tensor> with_evidence(const PlanImpl& plan, std::span<const Tensor> operands,
                                                const RunOptions& options);

/// The checked operands followed by a tensor of ones and zeros for each observable variable, with axes batch, plates,
/// states. Throws what Plan::run throws for bad operands, and for evidence UnknownNameError, OptionError, ShapeError
/// and ValueError.
[[nodiscard]] std::vector<Tensor> inputs(const PlanImpl& plan, std::span<const Tensor> operands,
                                         const RunOptions& options);

/// The same as logarithms, for questions about the posterior: of operands in the real semiring their logarithms are
/// taken, and negative entries are a ValueError. Other semirings than log and real are an OptionError.
[[nodiscard]] std::vector<Tensor> log_inputs(const PlanImpl& plan, std::span<const Tensor> operands,
                                             const RunOptions& options);

/// The settings of a question on such inputs: in log space, and with copies that were taken counted as memory.
[[nodiscard]] engine::Settings log_settings(const RunOptions& options, std::span<const Tensor> inputs);

/// The semiring that maximises what the given one adds up: max_plus for log, max_product for real, selective ones for
/// themselves. Throws OptionError for boolean.
[[nodiscard]] Semiring selective(Semiring semiring);

/// Throws ImpossibleError where a total is zero, and ValueError where it is NaN or infinite, naming the batch. Totals
/// have one entry for each batch.
void check_possible(const FactorGraph& graph, const Tensor& total, Semiring semiring);

/// A tensor of that shape all of whose entries are the same number in memory.
[[nodiscard]] Tensor constant(double value, Dtype dtype, const std::vector<std::int64_t>& shape);

}  // namespace plated::api
