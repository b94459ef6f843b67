// The model's plan with everything that a run of it needs.
#pragma once

#include <vector>

#include "hidden_markov.hpp"

namespace bench {

/// The caller's memory for gradients: one tensor for each factor.
[[nodiscard]] std::vector<plated::Tensor> memory_for_gradients(const std::vector<plated::Tensor>& factors);

class PlatedChain {
 public:
  PlatedChain(plated::Plan plan, std::vector<plated::Tensor> factors, int threads);

  /// log Z.
  double value();
  /// log Z, and its derivative by each factor into `gradients`.
  double gradient(const std::vector<plated::Tensor>& gradients);

 private:
  plated::Plan plan_;
  std::vector<plated::Tensor> factors_;
  plated::Workspace workspace_;
  plated::Tensor output_;
  plated::RunOptions options_;
};

}  // namespace bench
