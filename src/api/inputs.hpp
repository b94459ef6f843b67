// The inputs of a run: checked operands, and the evidence as further operands.
#pragma once

#include <span>
#include <vector>

#include "api/call.hpp"

namespace plated::api {

/// Throws what Plan::run throws for bad operands, and UnknownNameError or OptionError for evidence of what is not there
/// or not observable. Where operands are looked at at all, appends the largest finite magnitude of each.
void check_inputs(const Call& call, Semiring semiring, std::vector<double>* magnitudes = nullptr);
/// The same in two parts, around a run: in `real` and `log` most steps that read a large operand look at its entries as
/// they sum them, and to look beforehand would be to read it twice. What the run does not vouch for is looked at after
/// it. Results, which are then not to be relied upon, must not be looked at before.
void check_before_run(const Call& call, Semiring semiring);
void check_after_run(const Call& call, Semiring semiring, const engine::Workspace& workspace);
/// Whether an operand is declared a distribution, and is to be checked for it.
[[nodiscard]] inline bool is_to_be_distribution(const Factor& factor, Semiring semiring, const RunOptions& options) {
  const bool sums = semiring == Semiring::log || semiring == Semiring::real;
  return factor.distribution_of && !factor.trusted && sums && options.check == Check::all;
}
/// Throws ValueError where a result has overflowed, unless nothing is to be checked. `what` names it.
void check_results(std::span<const Tensor> results, const char* what, Semiring semiring, const Call& call);

/// The operands followed by a tensor for each observable variable: what was observed, where the call's plan reads
/// factors at it, or else ones and zeros, with axes batch, plates, states; and by the exponents of plates. What a
/// ragged plate does not have is replaced by ones. The operands must have been checked. Throws for evidence ShapeError
/// and ValueError, and MemoryLimitError for the copies.
[[nodiscard]] std::vector<Tensor> with_evidence(const Call& call, Semiring semiring);
/// Such operands as a schedule reads them: one that reads no factors at what was observed gets ones and zeros.
[[nodiscard]] std::vector<Tensor> as_read_by(const planner::Schedule& schedule, const Call& call, Semiring semiring,
                                             std::vector<Tensor> operands);

}  // namespace plated::api
