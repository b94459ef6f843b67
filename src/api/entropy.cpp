// entropy and expectation: numbers that the reverse sweep adds up.
#include "adjoint/questions.hpp"
#include "api/chained.hpp"
#include "api/inputs.hpp"
#include "api/log_posterior.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "engine/check_operands.hpp"
#include "plated/error.hpp"
#include "plated/marginals.hpp"

namespace plated {
namespace {

/// Runs a question whose only answer is a number for each batch.
Tensor number(const api::PlanImpl& impl, const api::Runnable& runnable, std::span<const Tensor> inputs,
              const RunOptions& options, Dtype dtype) {
  const engine::Settings settings = api::log_settings(options, inputs);
  const std::vector<std::int64_t> shape = api::sizes(impl.graph, adjoint::batch_axes(impl.graph));
  // Many steps add to the answer: in double, whatever it is rounded to in the end.
  const Tensor place = api::shape_only(Dtype::float64, shape);
  const std::vector<Tensor> outputs = runnable.run({place, place}, inputs, settings);
  api::check_possible(impl.graph, outputs[0], Semiring::log);
  return api::filled(dtype, shape, outputs[1].values());
}

std::vector<Tensor> seeded(const api::PlanImpl& impl, std::span<const Tensor> operands, const RunOptions& options) {
  std::vector<Tensor> inputs = api::log_inputs(impl, operands, options);
  inputs.push_back(api::constant(1.0, Dtype::float64, api::sizes(impl.graph, adjoint::batch_axes(impl.graph))));
  return inputs;
}

/// The same with chains: `ask` is given checked operands and answers in double, once log Z is known to be finite.
template <class Ask>
Tensor chained_number(const api::PlanImpl& impl, std::span<const Tensor> operands, const RunOptions& options, Ask ask) {
  const std::vector<Tensor> inputs = api::log_inputs(impl, operands, options);
  const api::ChainCall call(impl, options, api::log_settings(options, inputs));
  const FactorGraph& graph = impl.graph;
  const std::vector<std::int64_t> shape = api::sizes(graph, adjoint::batch_axes(graph));
  const auto total = api::total_program(impl);
  base::Phases phases;
  {
    const auto phase = phases.next(0.2);
    api::check_possible(graph, chain::outputs(*total, {api::shape_only(Dtype::float64, shape)}, inputs, call)[0],
                        Semiring::log);
  }
  const auto phase = phases.next(0.8);
  Tensor answer = api::filled(engine::element_dtype(operands), shape, ask(*total, inputs, call).values());
  base::tell_progress(1);
  return answer;
}

/// Statistics whose shapes have been checked. Entries of slices that do not exist are never read.
std::vector<Tensor> statistics_of(std::span<const Tensor> operands, std::span<const Tensor> statistics) {
  for (std::size_t f = 0; f < statistics.size(); ++f) {
    if (statistics[f].data() != nullptr && statistics[f].shape() != operands[f].shape()) {
      throw SizeError("the statistics of operand " + std::to_string(f) + " have the shape " +
                      engine::shape_text(statistics[f].shape()) + ", but the operand has " +
                      engine::shape_text(operands[f].shape()));
    }
  }
  return {statistics.begin(), statistics.end()};
}

}  // namespace

Tensor entropy(const Plan& plan, std::span<const Tensor> operands, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  if (impl.chains) {
    return chained_number(impl, operands, options,
                          [](const chain::Program& program, std::span<const Tensor> inputs, const chain::Call& call) {
                            return chain::entropy(program, inputs, call);
                          });
  }
  const std::vector<Tensor> inputs = seeded(impl, operands, options);
  const auto runnable =
      impl.question("entropy", [&] { return adjoint::entropy_schedule(impl.observed, impl.options); });
  return number(impl, *runnable, inputs, options, engine::element_dtype(operands));
}

Tensor entropy(std::string_view equation, const std::vector<Tensor>& operands, const EinsumOptions& options) {
  return entropy(api::cached_plan(equation, operands, options), operands, api::run_options(options));
}

Tensor expectation(const Plan& plan, std::span<const Tensor> operands, std::span<const Tensor> statistics,
                   const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  if (statistics.size() != operands.size()) {
    throw OperandCountError("the model has " + std::to_string(operands.size()) + " factors, but statistics for " +
                            std::to_string(statistics.size()) + " were given");
  }
  if (impl.chains) {
    std::vector<Tensor> all = statistics_of(operands, statistics);
    all.resize(impl.observed.factors().size());
    return chained_number(impl, operands, options,
                          [&](const chain::Program& program, std::span<const Tensor> given, const chain::Call& call) {
                            return chain::expectation(program, given, all, call);
                          });
  }
  std::vector<Tensor> inputs = seeded(impl, operands, options);
  std::vector<bool> given;
  std::string key = "expectation ";
  for (std::size_t f = 0; f < statistics.size(); ++f) {
    given.push_back(statistics[f].data() != nullptr);
    key += given[f] ? '1' : '0';
    if (!given[f]) continue;
    engine::check_like("the statistics of operand " + std::to_string(f), statistics[f], operands[f].shape());
    inputs.push_back(statistics[f]);
  }
  const auto runnable =
      impl.question(key, [&] { return adjoint::expectation_schedule(impl.observed, impl.options, given); });
  return number(impl, *runnable, inputs, options, engine::element_dtype(operands));
}

Tensor expectation(std::string_view equation, const std::vector<Tensor>& operands,
                   const std::vector<Tensor>& statistics, const EinsumOptions& options) {
  return expectation(api::cached_plan(equation, operands, options), operands, statistics, api::run_options(options));
}

}  // namespace plated
