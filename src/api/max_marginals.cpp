// max_marginals: the best total with each state of each variable, from one sweep in a selective semiring.
#include "adjoint/questions.hpp"
#include "api/ask.hpp"
#include "api/inputs.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "engine/erase.hpp"
#include "engine/indicator.hpp"
#include "engine/log_posterior.hpp"
#include "plated/marginals.hpp"
#include "semiring/dispatch.hpp"
#include "semiring/selective.hpp"

namespace plated {
namespace {

/// The best total of a variable that has one state is that of all.
std::vector<Tensor> swept(const api::Posed& posed, const std::vector<DimId>& variables) {
  const api::Call& call = posed.call;
  const adjoint::Asked asked = call.plan.parts({.kind = Question::Kind::max_marginals, .semiring = posed.semiring})[0];
  std::vector<Tensor> places;
  for (const DimId v : adjoint::posterior_variables(call.graph)) {
    places.push_back(api::shape_only(posed.dtype, call.shape(call.plan.axes(v))));
  }
  const std::vector<Tensor> outputs = posed.run(asked, Dtype::float64, std::move(places));
  std::vector<Tensor> answers;
  std::size_t next = posed.outputs(asked);
  for (const DimId v : variables) {
    answers.push_back(call.graph.dims()[v].size > 1
                          ? outputs[next++]
                          : engine::repeated(outputs[posed.total(asked)], call.shape(call.plan.axes(v)), posed.dtype));
    if (const Integers* observed = call.observed(v)) {
      const double zero = semiring::dispatch(posed.semiring, [](auto ring) { return decltype(ring)::zero(); });
      engine::put_observed(*observed, outputs[posed.total(asked)].values(), zero, answers.back());
    }
  }
  return answers;
}

}  // namespace

std::map<std::string, Tensor> api::ask_max_marginals(const Posed& posed) {
  const FactorGraph& graph = posed.call.graph;
  const std::vector<DimId> variables = graph::variables(graph);
  const std::vector<Tensor> answers = swept(posed, variables);
  check_results(answers, "max_marginals: output", posed.semiring, posed.call);
  base::tell_progress(1);
  std::map<std::string, Tensor> result;
  const double zero = semiring::dispatch(posed.semiring, [](auto ring) { return decltype(ring)::zero(); });
  for (std::size_t k = 0; k < variables.size(); ++k) {
    engine::erase(posed.call.extents(), posed.call.presence(), posed.call.plan.axes(variables[k]), answers[k], zero);
    result.emplace(graph.dims()[variables[k]].name, answers[k]);
  }
  return result;
}

std::map<std::string, Tensor> max_marginals(const Plan& plan, std::span<const Tensor> operands,
                                            const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const Semiring semiring = semiring::selective(options.semiring);
  const api::Call call(plan, operands, options);
  return api::ask_max_marginals(api::Posed(call, api::given_inputs(call, semiring), semiring));
}

std::map<std::string, Tensor> max_marginals(std::string_view equation, const std::vector<Tensor>& operands,
                                            const EinsumOptions& options) {
  return max_marginals(api::cached_plan(equation, operands, options), operands, api::run_options(options));
}

}  // namespace plated
