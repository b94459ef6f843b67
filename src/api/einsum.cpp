// einsum: parses the equation, finds or makes its plan, and runs it.
#include "plated/einsum.hpp"

#include "api/plan_cache.hpp"
#include "plated/error.hpp"

namespace plated {

Plan compile(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options) {
  return api::cached_plan(equation, operands, options);
}

std::vector<Tensor> einsum_all(std::string_view equation, const std::vector<Tensor>& operands,
                               const EinsumOptions& options) {
  return api::cached_plan(equation, operands, options).run(operands, api::run_options(options));
}

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options) {
  const Plan plan = api::cached_plan(equation, operands, options);
  if (plan.graph().outputs().size() != 1) {
    throw OptionError("the equation has " + std::to_string(plan.graph().outputs().size()) +
                      " outputs: einsum_all gives all of them");
  }
  return std::move(plan.run(operands, api::run_options(options)).front());
}

}  // namespace plated
