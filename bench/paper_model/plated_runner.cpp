// Compiles the model as a user would.
#include "paper_model/plated_runner.hpp"

#include <cmath>

namespace bench {

PlatedRunner::PlatedRunner(const TreeModel& model, plated::Semiring semiring, int threads)
    : plan_(compiled(model)),
      factors_(model.factors()),
      workspace_(plan_),
      // Double, so that checks see the whole precision; the arithmetic follows the operands, which are float32.
      output_(plated::Dtype::float64, {}) {
  options_.semiring = semiring;
  options_.threads = threads;
}

double PlatedRunner::log_result() const {
  return options_.semiring == plated::Semiring::log ? output_.item() : std::log(output_.item());
}

}  // namespace bench
