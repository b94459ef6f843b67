// map: runs the plan in a selective semiring, then walks it backwards to the best assignment.
#include "plated/map.hpp"

#include "api/ask.hpp"
#include "api/assignments.hpp"
#include "api/inputs.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "engine/log_posterior.hpp"
#include "semiring/selective.hpp"

namespace plated {

MapResult api::ask_map(const Posed& posed) {
  MapResult result;
  result.score = decode(posed, {}, result.assignment);
  if (posed.inputs.recentred()) {
    result.score = posed.given_total(posed.dtype);
  } else {
    check_results(std::span(&result.score, 1), "the score, output", posed.semiring, posed.call);
  }
  return result;
}

MapResult map(const Plan& plan, std::span<const Tensor> operands, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const Semiring semiring = semiring::selective(options.semiring);
  const api::Call call(plan, operands, options);
  return api::pose_as_given(call, semiring, [](const api::Posed& posed) { return api::ask_map(posed); });
}

MapResult map(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options) {
  return map(api::cached_plan(equation, operands, options), operands, api::run_options(options));
}

}  // namespace plated
