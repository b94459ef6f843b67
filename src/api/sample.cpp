// sample: runs the plan in log space, then draws exactly while walking it backwards.
#include "plated/sample.hpp"

#include <limits>

#include "api/assignments.hpp"
#include "api/plan_cache.hpp"
#include "api/question_inputs.hpp"
#include "base/watch.hpp"
#include "plated/error.hpp"

namespace plated {

std::map<std::string, Integers> sample(const Plan& plan, std::span<const Tensor> operands, const SampleOptions& draws,
                                       const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  if (draws.count < 0) throw OptionError("the number of samples is negative: " + std::to_string(draws.count));
  if (draws.first < 0) throw OptionError("the first sample's number is negative: " + std::to_string(draws.first));
  if (draws.count > std::numeric_limits<std::int64_t>::max() - draws.first) {
    throw OptionError("there is no sample beyond number 2^63 - 1");
  }
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  const api::Inputs inputs = api::log_inputs(impl, operands, options);
  std::map<std::string, Integers> assignment;
  (void)api::decode(impl, inputs.centred, api::question_settings(options, inputs, Semiring::log), options,
                    {.draw = true, .count = draws.count, .seed = draws.seed, .first = draws.first}, assignment);
  return assignment;
}

std::map<std::string, Integers> sample(std::string_view equation, const std::vector<Tensor>& operands,
                                       const SampleOptions& draws, const EinsumOptions& options) {
  return sample(api::cached_plan(equation, operands, options), operands, draws, api::run_options(options));
}

}  // namespace plated
