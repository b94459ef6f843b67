// Questions posed to checked inputs: from nothing, or to an evaluation that has run forward and kept what it computed.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "api/inputs.hpp"
#include "api/question_inputs.hpp"
#include "base/watch.hpp"
#include "engine/kept.hpp"

namespace plated::api {

class Posed {
 public:
  /// Questions in a semiring; `inputs` are in it.
  Posed(const Call& call, Inputs inputs, Semiring semiring);

  const Call& call;
  Inputs inputs;
  const Semiring semiring;
  const Dtype dtype;  // of answers: the operands' widest

  /// Each question is asked a single time: nothing is kept for another.
  bool once = false;

  /// Bytes that are held besides, by another evaluation of the same operands.
  std::atomic<std::int64_t> held_elsewhere = 0;
  /// The bytes that are held here: copies of operands, and what was kept.
  [[nodiscard]] std::int64_t held() const { return inputs.copied + (kept_ ? kept_->bytes() : 0); }

  /// Runs forward once; all that is asked from then on starts from its values.
  void evaluate();
  [[nodiscard]] const engine::Kept* kept() const { return kept_.get(); }
  /// The schedule of the kept run.
  [[nodiscard]] const planner::Schedule& forward() const { return runnable_->schedule(); }
  /// Of an evaluation, to be told that an operand has changed.
  [[nodiscard]] engine::Kept& evaluated() { return *kept_; }

  /// The operands of a question's schedule, but for those that it brings along.
  [[nodiscard]] std::vector<Tensor> operands(adjoint::Asked asked) const;
  /// The same of any schedule of the call's plan.
  [[nodiscard]] std::vector<Tensor> operands(const planner::Schedule& schedule, const std::vector<Tensor>& of) const;
  /// Of a question that continues a forward run (Sweep): the outputs of that among its results, and the total, one
  /// number for each batch.
  [[nodiscard]] std::size_t outputs(const adjoint::Asked& asked) const;
  [[nodiscard]] std::size_t total(const adjoint::Asked& asked) const;

  /// The plan's outputs, and its total, of inputs as they were given: values are right to rounding, and where
  /// magnitudes are large, it is felt in posteriors alone. The total throws ValueError where it overflows.
  [[nodiscard]] std::vector<Tensor> given_outputs(Dtype of) const;
  [[nodiscard]] Tensor given_total(Dtype of) const;

  /// How questions run: what is held counts against the limit.
  [[nodiscard]] engine::Settings settings() const;

  /// Whether a question continues the run that was kept.
  [[nodiscard]] bool continues(const adjoint::Asked& asked) const { return kept_ && asked.sweep != nullptr; }
  /// Of a question: the run that it continues.
  [[nodiscard]] adjoint::Forward forward_of(const adjoint::Asked& asked) const;

 private:
  LeftToRun left_;
  adjoint::Forward forward_ = adjoint::Forward::outputs;  // of the kept run
  std::shared_ptr<const Runnable> runnable_;              // its schedule
  std::unique_ptr<engine::Kept> kept_;
};

/// Posed inputs as a schedule reads them, run after run.
class ReadInputs {
 public:
  /// Puts them at the front of a list, which has those of the last run.
  void put(const Posed& posed, const planner::Schedule& schedule, std::vector<Tensor>& operands);

 private:
  int taken_changes_ = -1;  // of evidence
};

/// Asks a question in a semiring. make(look) makes its inputs, ask(posed) asks: a second time where the run finds that
/// operands have to be searched before.
template <class Make, class Ask>
auto pose(const Call& call, Semiring semiring, const Make& make, const Ask& ask) {
  try {
    Posed posed(call, make(Look::by_run), semiring);
    posed.once = true;
    return ask(posed);
  } catch (const LeftToRun::Suspicious&) {
    base::tell_progress(0);
  }
  return ask(Posed(call, make(Look::before), semiring));
}

/// The same of operands in the question's own semiring, and in log space.
template <class Ask>
auto pose_as_given(const Call& call, Semiring semiring, const Ask& ask) {
  return pose(
      call, semiring, [&](Look look) { return question_inputs(call, semiring, look); }, ask);
}
template <class Ask>
auto pose_in_log(const Call& call, const Ask& ask) {
  return pose(
      call, Semiring::log, [&](Look look) { return log_inputs(call, look); }, ask);
}

}  // namespace plated::api
