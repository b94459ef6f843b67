// A question that continues a forward run, with the memory of its answers: it can be asked again and again.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/posed.hpp"

namespace plated::api {

class Sweep {
 public:
  /// The forward run's outputs are of that type; `answers` are places or shapes to be allocated, and `more` the
  /// operands that the question brings along.
  Sweep(const Posed& posed, adjoint::Asked asked, Dtype of_outputs, std::vector<Tensor> answers,
        std::vector<Tensor> more = {});

  /// The outputs of the forward run among the results, and the total.
  [[nodiscard]] std::size_t first_answer() const { return first_answer_; }
  [[nodiscard]] std::size_t total() const { return total_; }
  [[nodiscard]] const planner::Schedule& schedule() const { return runnable_->schedule(); }

  /// Where the next run writes a result: the caller's tensor, or memory of its own where that has no data. `what` and
  /// `name` begin the message of what is thrown: SizeError, ShapeError and OverlapError.
  void place(std::size_t result, const Tensor& given, const char* what, const std::string& name = {});
  /// The same of one that has been checked.
  void place_checked(std::size_t result, const Tensor& given) { places_[result] = given; }
  /// An operand that the question brings along, and its shape.
  void bring(std::size_t number, const Tensor& operand) { operands_[own_ + number] = operand; }
  [[nodiscard]] const Tensor::Shape& brought_shape(std::size_t number) const {
    return operands_[own_ + number].shape();
  }
  /// All that the next run reads.
  [[nodiscard]] std::span<const Tensor> operands();

  /// Runs on the posed inputs: the outputs of the forward run, where they were kept in double, then the answers.
  /// Without another place, what had no data the first time is overwritten by the next run. `finite` as in
  /// engine::Settings.
  [[nodiscard]] std::span<const Tensor> run(std::vector<bool>* finite = nullptr);

  /// Memory that it holds for the next run.
  [[nodiscard]] std::int64_t bytes() const { return lease_ ? (**lease_).bytes() : 0; }

 private:
  const Posed& posed_;
  std::shared_ptr<const Runnable> runnable_;
  std::optional<Runnable::Lease> lease_;
  bool continues_;  // a run that was kept
  std::size_t first_answer_;
  std::size_t total_;
  std::int64_t beside_;  // bytes
  std::size_t own_;      // operands that are the posed inputs
  ReadInputs read_;
  std::vector<Tensor> operands_;
  std::vector<Tensor> blank_;   // places as they were given, for another run
  std::vector<Tensor> places_;  // of the next run; of the last one after it
  std::vector<Tensor> given_;   // those that are the caller's
};

}  // namespace plated::api
