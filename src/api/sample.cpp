// sample: runs the plan in log space, then draws exactly while walking it backwards.
#include "plated/sample.hpp"

#include <limits>

#include "api/ask.hpp"
#include "api/assignments.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "plated/error.hpp"

namespace plated {

std::map<std::string, Integers> api::ask_sample(const Posed& posed, const SampleOptions& draws) {
  if (draws.count < 0) throw OptionError("the number of samples is negative: " + std::to_string(draws.count));
  if (draws.first < 0) throw OptionError("the first sample's number is negative: " + std::to_string(draws.first));
  if (draws.count > std::numeric_limits<std::int64_t>::max() - draws.first) {
    throw OptionError("there is no sample beyond number 2^63 - 1");
  }
  std::map<std::string, Integers> assignment;
  (void)decode(posed, {.draw = true, .count = draws.count, .seed = draws.seed, .first = draws.first}, assignment);
  return assignment;
}

std::map<std::string, Integers> sample(const Plan& plan, std::span<const Tensor> operands, const SampleOptions& draws,
                                       const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::Call call(plan, operands, options);
  return api::pose_in_log(call, [&](const api::Posed& posed) { return api::ask_sample(posed, draws); });
}

std::map<std::string, Integers> sample(std::string_view equation, const std::vector<Tensor>& operands,
                                       const SampleOptions& draws, const EinsumOptions& options) {
  return sample(api::cached_plan(equation, operands, options), operands, draws, api::run_options(options));
}

}  // namespace plated
