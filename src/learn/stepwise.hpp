// Stepwise EM: an M-step after each minibatch, of counts that are averaged over the last of them.
#pragma once

#include "learn/minibatches.hpp"
#include "learn/runner.hpp"
#include "learn/spread_lists.hpp"
#include "plated/gradient.hpp"

namespace plated::learn {

class Stepwise final : public Runner {
 public:
  /// All outlive it.
  Stepwise(const LearntParts& parts, const Minibatches& batches, const FitOptions& options, int threads,
           std::function<bool()> cancelled);

  [[nodiscard]] Outcome run(std::vector<double> start, const Told& told) override;
  [[nodiscard]] std::optional<std::vector<double>> count(std::vector<double> parameters) override;

 private:
  void pass(Outcome& outcome, std::vector<std::size_t>& order, base::Random& random);
  /// The E-step of a block, its share of the statistics, and the M-step.
  double step(std::size_t block);
  /// The E-step alone.
  double count_block(std::size_t block);
  /// Adds a share of what the last E-step has found to the statistics, and takes as much of what they are.
  void blend(double share, double kept);
  void maximise(std::size_t block);
  /// Makes the operands those of a block.
  void write(std::size_t block);
  void write_lists(std::size_t block);
  [[nodiscard]] Operands operands() const {
    return {.logs = logs_, .counts = counts_, .block = block_, .threads = threads_};
  }
  /// ln Z of all data under the numbers as they are.
  [[nodiscard]] double log_total();

  const Minibatches& batches_;
  const Blocks& blocks_;
  const Counting& counting_;
  const FitOptions& options_;
  int threads_;
  std::function<bool()> cancelled_;
  Workspace workspace_;
  RunOptions run_;
  std::vector<Tensor> factors_;                    // tables, and log-probabilities of numbers
  std::vector<Tensor> operands_;                   // the same, but for tables that lists are read at
  std::vector<Tensor> messages_, found_messages_;  // of these lists, for all slices of the block
  std::vector<Tensor> found_counts_;
  SpreadLists lists_;
  GradientOptions places_;
  ValueAndGradient found_;
  std::vector<double*> logs_;
  std::vector<const double*> counts_;
  std::size_t block_ = 0;             // that the operands are of
  std::vector<double> own_;           // statistics of one part in one block
  std::vector<double> before_;        // parameters of one part before its M-step
  std::vector<std::size_t> numbers_;  // [part]: that have been seen
  std::int64_t steps_ = 0;
};

}  // namespace plated::learn
