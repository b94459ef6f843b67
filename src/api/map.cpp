// map: runs the plan in a selective semiring, then traces its choices back.
#include "plated/map.hpp"

#include "api/assignments.hpp"
#include "api/inputs.hpp"
#include "api/plan_cache.hpp"
#include "api/question_inputs.hpp"
#include "base/watch.hpp"

namespace plated {

MapResult map(const Plan& plan, std::span<const Tensor> operands, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  RunOptions selecting = options;
  selecting.semiring = api::selective(options.semiring);
  const api::Inputs inputs = api::question_inputs(impl, operands, selecting);
  const engine::Settings settings = api::question_settings(selecting, inputs, selecting.semiring);
  MapResult result;
  result.score = api::decode(impl, inputs.centred, settings, selecting, {}, result.assignment);
  if (inputs.recentred()) {
    result.score = api::given_total(impl, inputs, selecting, settings, engine::element_dtype(operands));
  } else {
    api::check_results(std::span(&result.score, 1), "the score, output", selecting.semiring, selecting);
  }
  return result;
}

MapResult map(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options) {
  return map(api::cached_plan(equation, operands, options), operands, api::run_options(options));
}

}  // namespace plated
