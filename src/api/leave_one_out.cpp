// leave_one_out: the total with and without each slice of a plate.
#include "adjoint/questions.hpp"
#include "api/inputs.hpp"
#include "api/log_posterior.hpp"
#include "api/plan_cache.hpp"
#include "plated/error.hpp"
#include "plated/marginals.hpp"

namespace plated {

namespace {

/// The total of all slices, and that without each of them.
std::vector<Tensor> totals(const api::PlanImpl& impl, DimId plate, std::span<const Tensor> inputs,
                           const engine::Settings& settings) {
  const FactorGraph& graph = impl.graph;
  const std::string& name = graph.dims()[plate].name;
  const std::vector<std::int64_t> batch = api::sizes(graph, adjoint::batch_axes(graph));
  std::vector<std::int64_t> slices = batch;
  slices.push_back(graph.dims()[plate].size);
  std::vector<Tensor> outputs{api::shape_only(Dtype::float64, batch), api::shape_only(Dtype::float64, slices)};
  if (graph.dims()[plate].size != 1) {
    const auto runnable = impl.question(
        "leave one out of " + name, [&] { return adjoint::predictive_schedule(impl.observed, impl.options, plate); });
    return runnable->run(std::move(outputs), inputs, settings);
  }
  // Without its only slice the plate is empty.
  planner::Options options = impl.options;
  options.sums_only = false;
  const FactorGraph total = adjoint::total_graph(impl.observed);
  const auto whole = impl.question("log total", [&] { return planner::plan(total, options); });
  const auto rest = impl.question("without " + name, [&] { return planner::plan(total.resized(name, 0), options); });
  Tensor without(Dtype::float64, slices);
  const Tensor place = Tensor::view(static_cast<double*>(without.mutable_data()), batch);
  (void)rest->run({place}, inputs, settings);
  return {whole->run({outputs[0]}, inputs, settings)[0], without};
}

}  // namespace

Tensor leave_one_out(const Plan& plan, std::span<const Tensor> operands, std::string_view plate,
                     const RunOptions& options) {
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  const auto dim = impl.graph.find(plate);
  if (!dim || impl.graph.dims()[*dim].kind != DimKind::plate) {
    throw UnknownNameError("slices of '" + std::string(plate) +
                           "' are to be left out, and the model has no such plate");
  }
  const std::vector<Tensor> inputs = api::log_inputs(impl, operands, options);
  const engine::Settings settings = api::log_settings(options, inputs);
  const std::vector<Tensor> both = totals(impl, *dim, inputs, settings);
  return api::predictive(impl.graph, *dim, both[0], both[1], engine::element_dtype(operands));
}

Tensor leave_one_out(std::string_view equation, const std::vector<Tensor>& operands, std::string_view plate,
                     const EinsumOptions& options) {
  return leave_one_out(api::cached_plan(equation, operands, options), operands, plate, api::run_options(options));
}

}  // namespace plated
