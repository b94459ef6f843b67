// The inputs of a run: checked operands, and the evidence as further operands.
#pragma once

#include <span>
#include <vector>

#include "api/call.hpp"
#include "api/padding.hpp"
#include "engine/unseen.hpp"

namespace plated::api {

/// Large operands, which most steps look at as they sum them: to look beforehand would be to read them twice.
class LeftToRun final : public engine::Unseen {
 public:
  /// Thrown out of a run whose operands must be searched before, because of what they hold or to be recentred.
  struct Suspicious {};

  /// With `recentres`, magnitudes matter.
  LeftToRun(const Call& call, Semiring semiring, bool recentres)
      : call_(call), semiring_(semiring), recentres_(recentres) {}

  [[nodiscard]] double most(std::size_t operand) const override;
  /// Throws what check_inputs throws; where magnitudes matter, Suspicious instead.
  void search(std::size_t operand) const override;

 private:
  const Call& call_;
  Semiring semiring_;
  bool recentres_;
};

/// Throws what Plan::run throws for bad operands, except for those that are left to a run, and UnknownNameError or
/// OptionError for evidence of what is not there or not observable. Where operands are looked at at all, appends the
/// largest finite magnitude of each, 0 of those that are left. Returns whether any is left.
bool check_inputs(const Call& call, Semiring semiring, const LeftToRun* left,
                  std::vector<double>* magnitudes = nullptr);
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
[[nodiscard]] std::vector<Tensor> with_evidence(const Call& call, Semiring semiring, PaddedCopies& padded);
/// Puts a call's operands into an earlier list of the same call.
void renew_operands(const Call& call, Semiring semiring, PaddedCopies& padded, std::vector<Tensor>& all);
/// Puts its evidence and weights, of a call without lengths, into an earlier list that has them in that semiring.
/// Throws ValueError.
void renew_evidence(const Call& call, Semiring semiring, std::span<const Tensor> all);
/// Makes such operands what a schedule reads: one that reads no factors at what was observed gets ones and zeros.
void as_read_by(const planner::Schedule& schedule, const Call& call, Semiring semiring, std::vector<Tensor>& operands);
/// The same of an earlier list, once more.
void renew_as_read_by(const planner::Schedule& schedule, const Call& call, Semiring semiring,
                      std::span<const Tensor> operands);

}  // namespace plated::api
