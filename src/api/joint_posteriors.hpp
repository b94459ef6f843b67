// Posteriors of sets of variables as outputs of a plan in log space, computed again and again in the same memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/posed.hpp"
#include "engine/erase.hpp"

namespace plated::api {

class JointPosteriors {
 public:
  /// Of a question about outputs, of which the first is log Z. With `ends`, those of linked variables come behind them.
  JointPosteriors(const Posed& posed, const adjoint::Asked& asked, bool ends);

  /// Computes the joints, and returns log Z for each batch.
  const Tensor& run();
  /// One of the joints, float64: in log space after a run, without mass in slices that stand for nothing.
  [[nodiscard]] const Tensor& joint(std::size_t output) const { return places_[output]; }
  /// The same as a posterior, once after each run.
  const Tensor& posterior(std::size_t output, bool log);
  /// The names of the ends, in the order of the last outputs.
  [[nodiscard]] const std::vector<std::string>& ends() const { return ends_; }
  /// Memory that it holds for the next run.
  [[nodiscard]] std::int64_t bytes() const { return lease_ ? (**lease_).bytes() : 0; }

 private:
  const Posed& posed_;
  std::vector<std::string> ends_;
  std::shared_ptr<const PlanImpl> with_ends_;  // whose graph names ends that the asked one does not
  std::shared_ptr<const Runnable> runnable_;
  std::optional<Runnable::Lease> lease_;
  planner::Extents extents_;
  std::vector<std::int64_t> states_;    // [output], of a slice
  std::vector<engine::Absent> absent_;  // [output]
  ReadInputs read_;
  std::vector<Tensor> operands_;
  std::vector<Tensor> blank_;  // shapes of the places
  std::vector<Tensor> places_;
};

}  // namespace plated::api
