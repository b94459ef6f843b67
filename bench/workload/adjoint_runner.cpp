// Compiles the model and sets up its questions.
#include "workload/adjoint_runner.hpp"

#include <utility>

namespace bench {

AdjointRunner::AdjointRunner(const TreeModel& model, int threads, std::vector<plated::Tensor> gradients)
    : value(plated::Dtype::float32, {}), plan_(compiled(model)), factors_(model.factors()), workspace_(plan_) {
  options_.semiring = plated::Semiring::log;
  options_.threads = threads;
  into_.gradients = std::move(gradients);
}

plated::Tensor AdjointRunner::max_plus() const {
  plated::RunOptions options = options_;
  options.semiring = plated::Semiring::max_plus;
  return plan_.run(factors_, options).front();
}

std::vector<plated::Tensor> memory_for_gradients(const TreeModel& model) {
  std::vector<plated::Tensor> memory;
  for (const plated::Tensor& factor : model.factors()) memory.emplace_back(factor.dtype(), factor.shape());
  return memory;
}

}  // namespace bench
