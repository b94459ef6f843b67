// sample: runs the plan in log space, then draws exactly while walking it backwards.
#include "plated/sample.hpp"

#include <limits>

#include "api/ask.hpp"
#include "api/assignments.hpp"
#include "api/held.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "plated/error.hpp"

namespace plated {

namespace {

/// Throws OptionError for samples that there are not.
void check_draws(const SampleOptions& draws) {
  if (draws.count < 0) throw OptionError("the number of samples is negative: " + std::to_string(draws.count));
  if (draws.first < 0) throw OptionError("the first sample's number is negative: " + std::to_string(draws.first));
  if (draws.count > std::numeric_limits<std::int64_t>::max() - draws.first) {
    throw OptionError("there is no sample beyond number 2^63 - 1");
  }
}

class SampleAsker {
 public:
  /// The number of samples.
  using Parameters = std::int64_t;
  static Semiring semiring(const RunOptions& /*options*/) { return Semiring::log; }
  static void take(const api::Call& call, Semiring /*semiring*/, api::Look look, api::Inputs& inputs) {
    api::take_log_inputs(call, look, inputs);
  }

  SampleAsker(const api::Posed& posed, std::int64_t count) : decoder_(posed, {.draw = true, .count = count}, true) {}
  void ask(const SampleOptions& draws, std::map<std::string, Integers>& answer) {
    (void)decoder_.run(answer, draws.seed, draws.first);
  }
  [[nodiscard]] std::int64_t bytes() const { return decoder_.bytes(); }

 private:
  api::Decoder decoder_;
};

}  // namespace

std::map<std::string, Integers> api::ask_sample(const Posed& posed, const SampleOptions& draws) {
  check_draws(draws);
  std::map<std::string, Integers> assignment;
  (void)decode(posed, {.draw = true, .count = draws.count, .seed = draws.seed, .first = draws.first}, assignment);
  return assignment;
}

void sample_into(std::map<std::string, Integers>& answer, const Plan& plan, Tensors operands,
                 const SampleOptions& draws, Workspace& workspace, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  check_draws(draws);
  api::ask_held<SampleAsker>(workspace, plan, operands, options, draws.count,
                             [&](SampleAsker& asker) { asker.ask(draws, answer); });
}

std::map<std::string, Integers> sample(const Plan& plan, Tensors operands, const SampleOptions& draws,
                                       const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::Call call(plan, operands, options);
  return api::pose_in_log(call, [&](const api::Posed& posed) { return api::ask_sample(posed, draws); });
}

std::map<std::string, Integers> sample(std::string_view equation, Tensors operands, const SampleOptions& draws,
                                       const EinsumOptions& options) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  return sample(plan, operands, draws, how);
}

}  // namespace plated
