// map: the plan in a selective semiring, then its choices traced back.
#include "plated/map.hpp"

#include "api/assignments.hpp"
#include "api/inputs.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"

namespace plated {

MapResult map(const Plan& plan, std::span<const Tensor> operands, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  RunOptions selecting = options;
  selecting.semiring = api::selective(options.semiring);
  const std::vector<Tensor> inputs = api::inputs(impl, operands, selecting);
  MapResult result;
  result.score = api::decode(impl, inputs, api::settings_of(selecting), selecting, {}, result.assignment);
  return result;
}

MapResult map(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options) {
  return map(api::cached_plan(equation, operands, options), operands, api::run_options(options));
}

}  // namespace plated
