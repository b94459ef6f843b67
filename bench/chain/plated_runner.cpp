// Runs a compiled plan as a user would.
#include "plated_runner.hpp"

#include <utility>

namespace bench {

std::vector<plated::Tensor> memory_for_gradients(const std::vector<plated::Tensor>& factors) {
  std::vector<plated::Tensor> memory;
  for (const plated::Tensor& factor : factors) memory.emplace_back(factor.dtype(), factor.shape());
  return memory;
}

PlatedChain::PlatedChain(plated::Plan plan, std::vector<plated::Tensor> factors, int threads)
    : plan_(std::move(plan)),
      factors_(std::move(factors)),
      workspace_(plan_),
      // Double, so that checks see the whole precision; the arithmetic follows the operands, which are float32.
      output_(plated::Dtype::float64, {}) {
  options_.threads = threads;
}

double PlatedChain::value() {
  plan_.run_into({output_}, factors_, workspace_, options_);
  return output_.item();
}

double PlatedChain::gradient(const std::vector<plated::Tensor>& gradients) {
  const plated::GradientOptions into = {.cotangents = {}, .gradients = gradients};
  return value_and_gradient(plan_, factors_, options_, into).values.front().item();
}

}  // namespace bench
