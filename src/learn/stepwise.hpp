// Stepwise EM: an M-step after each minibatch, of counts that are averaged over the last of them.
#pragma once

#include "learn/minibatches.hpp"
#include "learn/runner.hpp"

namespace plated::learn {

class Stepwise final : public Runner {
 public:
  /// All outlive it.
  Stepwise(const LearntParts& parts, const Minibatches& batches, const FitOptions& options, int threads,
           std::function<bool()> cancelled);

  [[nodiscard]] Outcome run(std::vector<double> start, const Told& told) override;

 private:
  void pass(Outcome& outcome, std::vector<std::size_t>& order, base::Random& random);
  /// The E-step of a block, its share of the counts, and the M-step.
  double step(std::size_t block);
  void write();
  /// ln Z of all data under the numbers as they are.
  [[nodiscard]] double log_total();

  const Minibatches& batches_;
  const FitOptions& options_;
  Workspace workspace_;
  RunOptions run_;
  std::vector<Tensor> factors_;
  GradientOptions places_;
  ValueAndGradient found_;
  std::vector<std::vector<double>> sums_;  // [factor]: counts, averaged
  std::vector<double*> logs_;
  std::vector<const double*> counts_;
  std::int64_t steps_ = 0;
};

}  // namespace plated::learn
