// A compiled plan with everything that a run of it needs.
#pragma once

#include <functional>

#include "workload/tree_model.hpp"

namespace bench {

class PlatedRunner {
 public:
  PlatedRunner(const TreeModel& model, plated::Semiring semiring, int threads);

  void operator()() { plan_.run_into({output_}, factors_, workspace_, options_); }

  /// The logarithm of the last run's result.
  [[nodiscard]] double log_result() const;

 private:
  plated::Plan plan_;
  std::vector<plated::Tensor> factors_;
  plated::Workspace workspace_;
  plated::Tensor output_;
  plated::RunOptions options_;
};

}  // namespace bench
