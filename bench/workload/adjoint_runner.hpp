// The model's plan and every question of it that is timed: the curves of the paper's runtime figure.
#pragma once

#include "workload/tree_model.hpp"

namespace bench {

/// Each question is one call of the public API with a plan that was compiled before, in log space. The members hold the
/// answers of the last calls.
class AdjointRunner {
 public:
  /// `gradients` are the caller's memory, as memory_for_gradients() makes it, one tensor for each factor; without any,
  /// calls allocate theirs.
  AdjointRunner(const TreeModel& model, int threads, std::vector<plated::Tensor> gradients);

  void ask_value() { plan_.run_into({value}, factors_, workspace_, options_); }
  void ask_gradient() { log_partition = value_and_gradient(plan_, factors_, options_, into_).values.front(); }
  void ask_marginals() { marginals = plated::marginals(plan_, factors_, options_); }
  void ask_map() { best = plated::map(plan_, factors_, options_); }
  void ask_samples(std::int64_t count) { samples = plated::sample(plan_, factors_, {.count = count}, options_); }

  /// What einsum returns in the max-plus semiring.
  [[nodiscard]] plated::Tensor max_plus() const;
  [[nodiscard]] const std::vector<plated::Tensor>& gradients() const { return into_.gradients; }

  plated::Tensor value;
  plated::Tensor log_partition;
  plated::Marginals marginals;
  plated::MapResult best;
  std::map<std::string, plated::Integers> samples;

 private:
  plated::Plan plan_;
  std::vector<plated::Tensor> factors_;
  plated::Workspace workspace_;
  plated::RunOptions options_;
  plated::GradientOptions into_;
};

/// A tensor for the gradient of each factor: memory that is there before, else its allocation would be timed.
[[nodiscard]] std::vector<plated::Tensor> memory_for_gradients(const TreeModel& model);

}  // namespace bench
