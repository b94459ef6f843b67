// Compiles the model and sets up its questions.
#include "paper_model/adjoint_runner.hpp"

#include <utility>

#include "paper_model/plated_runner.hpp"

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

}  // namespace bench
