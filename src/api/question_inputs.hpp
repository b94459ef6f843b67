// What questions about a posterior read: checked operands, in log space, without magnitudes that would swallow it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "api/plan_impl.hpp"
#include "engine/recentre.hpp"

namespace plated::api {

/// Operands followed by evidence, twice: as they are, for values, and recentred, for posteriors and choices.
struct Inputs {
  std::vector<Tensor> given;
  std::vector<Tensor> centred;
  /// What was subtracted, for each operand.
  std::vector<std::optional<engine::Offsets>> offsets;
  /// The bytes of all copies that were made; they count against the memory limit.
  std::int64_t copied = 0;

  /// True where the two differ.
  [[nodiscard]] bool recentred() const;
};

/// The inputs of a question in the semiring of the options; only in log, max_plus and min_plus they are recentred, and
/// only where operands are checked. Throws what check_inputs, with_evidence and Plan::run throw.
[[nodiscard]] Inputs question_inputs(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options);

/// The same as logarithms: of operands in the real semiring their logarithms are taken, and negative entries are a
/// ValueError. Other semirings than log and real are an OptionError.
[[nodiscard]] Inputs log_inputs(const PlanImpl& plan, std::span<const Tensor> operands, const RunOptions& options);

/// The settings of a question on such inputs: in the given semiring, and with copies that were taken counted as memory.
[[nodiscard]] engine::Settings question_settings(const RunOptions& options, const Inputs& inputs, Semiring semiring);

/// The plan's outputs, and its total for each batch, of inputs as they were given: values are right to rounding, and
/// where magnitudes are large, it is felt in posteriors alone. The total throws ValueError where it overflows.
[[nodiscard]] std::vector<Tensor> given_outputs(const PlanImpl& plan, const Inputs& inputs, const RunOptions& options,
                                                engine::Settings settings, Dtype dtype);
[[nodiscard]] Tensor given_total(const PlanImpl& plan, const Inputs& inputs, const RunOptions& options,
                                 engine::Settings settings, Dtype dtype);

/// Adds to an answer with the given axes what was subtracted from the slices of factors at each of its indices.
/// `lengths` are those of ragged chains.
void add_offsets(const PlanImpl& plan, const Inputs& inputs, const std::vector<std::size_t>& factors,
                 const std::vector<DimId>& axes, const chain::RaggedChains& lengths, Tensor& answer);

}  // namespace plated::api
