// entropy and expectation: numbers that the reverse sweep adds up.
#include "adjoint/questions.hpp"
#include "api/chained.hpp"
#include "api/inputs.hpp"
#include "api/log_posterior.hpp"
#include "api/plan_cache.hpp"
#include "api/question_inputs.hpp"
#include "base/watch.hpp"
#include "engine/check_answers.hpp"
#include "engine/check_operands.hpp"
#include "plated/error.hpp"
#include "plated/marginals.hpp"

namespace plated {
namespace {

Tensor answered(Tensor answer) {
  engine::check_answer("the answer", "", answer, Semiring::real);
  return answer;
}

/// Runs a question whose only answer is a number for each batch.
Tensor number(const api::PlanImpl& impl, const api::Runnable& runnable, const api::Inputs& inputs,
              const RunOptions& options, Dtype dtype) {
  const engine::Settings settings = api::question_settings(options, inputs, Semiring::log);
  const std::vector<std::int64_t> shape = api::sizes(impl.graph, adjoint::batch_axes(impl.graph));
  // Many steps add to the answer: in double, whatever it is rounded to in the end.
  const Tensor place = api::shape_only(Dtype::float64, shape);
  const std::vector<Tensor> outputs = runnable.run({place, place}, inputs.centred, settings);
  api::check_possible(impl.graph, outputs[0], Semiring::log);
  return answered(api::filled(dtype, shape, outputs[1].values()));
}

api::Inputs seeded(const api::PlanImpl& impl, std::span<const Tensor> operands, const RunOptions& options) {
  api::Inputs inputs = api::log_inputs(impl, operands, options);
  inputs.centred.push_back(api::constant(1.0, Dtype::float64, api::sizes(impl.graph, adjoint::batch_axes(impl.graph))));
  return inputs;
}

/// The same with chains: `ask` is given checked operands and answers in double, once log Z is known to be finite.
template <class Ask>
Tensor chained_number(const api::PlanImpl& impl, std::span<const Tensor> operands, const RunOptions& options, Ask ask) {
  const api::Inputs inputs = api::log_inputs(impl, operands, options);
  const api::ChainCall call(impl, options, api::question_settings(options, inputs, Semiring::log));
  const FactorGraph& graph = impl.graph;
  const std::vector<std::int64_t> shape = api::sizes(graph, adjoint::batch_axes(graph));
  const auto total = api::total_program(impl);
  base::Phases phases;
  {
    const auto phase = phases.next(0.2);
    const Tensor place = api::shape_only(Dtype::float64, shape);
    api::check_possible(graph, chain::outputs(*total, {place}, inputs.centred, call)[0], Semiring::log);
  }
  const auto phase = phases.next(0.8);
  Tensor answer =
      answered(api::filled(engine::element_dtype(operands), shape, ask(*total, inputs.centred, call).values()));
  base::tell_progress(1);
  return answer;
}

/// Checked statistics. Entries of slices that do not exist are never read.
std::vector<Tensor> statistics_of(const api::PlanImpl& impl, std::span<const Tensor> operands,
                                  std::span<const Tensor> statistics, const RunOptions& options) {
  engine::check_shapes(impl.graph, operands);
  const chain::RaggedChains lengths = api::ragged_chains(impl, options.lengths);
  for (std::size_t f = 0; f < statistics.size(); ++f) {
    if (statistics[f].data() == nullptr) continue;
    if (statistics[f].shape() != operands[f].shape()) {
      throw SizeError("the statistics of operand " + std::to_string(f) + " have the shape " +
                      engine::shape_text(statistics[f].shape()) + ", but the operand has " +
                      engine::shape_text(operands[f].shape()));
    }
    engine::check_like("the statistics of operand " + std::to_string(f),
                       api::without_padding(impl.graph.factors()[f].dims, statistics[f], lengths, Semiring::real),
                       operands[f].shape());
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
  const api::Inputs inputs = seeded(impl, operands, options);
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
    std::vector<Tensor> all = statistics_of(impl, operands, statistics, options);
    all.resize(impl.observed.factors().size());
    return chained_number(impl, operands, options,
                          [&](const chain::Program& program, std::span<const Tensor> given, const chain::Call& call) {
                            return chain::expectation(program, given, all, call);
                          });
  }
  api::Inputs inputs = seeded(impl, operands, options);
  std::vector<bool> given;
  std::string key = "expectation ";
  for (std::size_t f = 0; f < statistics.size(); ++f) {
    given.push_back(statistics[f].data() != nullptr);
    key += given[f] ? '1' : '0';
    if (!given[f]) continue;
    engine::check_like("the statistics of operand " + std::to_string(f), statistics[f], operands[f].shape());
    inputs.centred.push_back(statistics[f]);
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
