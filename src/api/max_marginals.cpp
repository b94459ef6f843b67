// max_marginals: plans an output for every variable and runs it in a selective semiring.
#include "adjoint/questions.hpp"
#include "api/chained.hpp"
#include "api/inputs.hpp"
#include "api/log_posterior.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "plated/marginals.hpp"

namespace plated {

std::map<std::string, Tensor> max_marginals(const Plan& plan, std::span<const Tensor> operands,
                                            const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  RunOptions selecting = options;
  selecting.semiring = api::selective(options.semiring);
  api::check_inputs(impl, operands, selecting);
  const std::vector<Tensor> inputs = api::with_evidence(impl, operands, selecting);
  const std::vector<DimId> variables = api::variables(impl.graph);
  const engine::Settings settings = api::settings_of(selecting);
  std::vector<Tensor> outputs;
  if (impl.chains) {
    const auto part = impl.chains->part("each variable", [&] { return api::asking_each(impl.observed, variables); });
    outputs = chain::outputs(*part, api::output_shapes(part->graph(), engine::element_dtype(operands)), inputs,
                             api::ChainCall(impl, selecting, settings));
  } else {
    const auto runnable = impl.question("each variable", [&] {
      planner::Options any_semiring = impl.options;
      any_semiring.sums_only = false;
      return planner::plan(api::asking_each(impl.observed, variables), any_semiring);
    });
    outputs = runnable->run(api::output_shapes(runnable->schedule().graph, engine::element_dtype(operands)), inputs,
                            settings);
  }
  api::check_results(outputs, "max_marginals: output", selecting.semiring, selecting);
  watch.finish();
  std::map<std::string, Tensor> result;
  for (std::size_t k = 0; k < variables.size(); ++k) result.emplace(impl.graph.dims()[variables[k]].name, outputs[k]);
  return result;
}

std::map<std::string, Tensor> max_marginals(std::string_view equation, const std::vector<Tensor>& operands,
                                            const EinsumOptions& options) {
  return max_marginals(api::cached_plan(equation, operands, options), operands, api::run_options(options));
}

}  // namespace plated
