// einsum: parses the equation, finds or makes its plan, and runs it.
#include "plated/einsum.hpp"

#include <algorithm>

#include "api/plan_cache.hpp"
#include "api/plan_impl.hpp"
#include "base/watch.hpp"
#include "engine/check_operands.hpp"
#include "plated/error.hpp"

namespace plated {

Plan compile(std::string_view equation, Tensors operands, const EinsumOptions& options) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  if (!options.plan.questions.empty()) {
    const base::Watch watch(options.plan.cancelled ? options.plan.cancelled : options.cancelled, {});
    api::prepare(plan, options.plan.questions);
  }
  planner::Extents sizes;
  engine::read_extents(plan.graph(), operands, how.sizes, sizes, false);
  const std::vector<Dim>& dims = plan.graph().dims();
  const auto same = [](const Dim& dim, std::int64_t size) { return dim.size == size; };
  if (std::equal(dims.begin(), dims.end(), sizes.begin(), same)) return plan;
  return api::PlanAccess::sized(plan, plan.graph().resized(sizes));
}

std::vector<Tensor> einsum_all(std::string_view equation, Tensors operands, const EinsumOptions& options) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  return plan.run(operands, how);
}

Tensor einsum(std::string_view equation, Tensors operands, const EinsumOptions& options) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  if (plan.graph().outputs().size() != 1) {
    throw OptionError("the equation has " + std::to_string(plan.graph().outputs().size()) +
                      " outputs: einsum_all gives all of them");
  }
  return std::move(plan.run(operands, how).front());
}

}  // namespace plated
