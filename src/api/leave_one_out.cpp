// leave_one_out: the total with and without each slice of a plate.
#include "adjoint/questions.hpp"
#include "api/inputs.hpp"
#include "api/plan_cache.hpp"
#include "api/log_posterior.hpp"
#include "plated/error.hpp"
#include "plated/marginals.hpp"

namespace plated {

Tensor leave_one_out(const Plan& plan, std::span<const Tensor> operands, std::string_view plate,
                     const RunOptions& options) {
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  const auto dim = impl.graph.find(plate);
  if (!dim || impl.graph.dims()[*dim].kind != DimKind::plate) {
    throw UnknownNameError("slices of '" + std::string(plate) + "' are to be left out, and the model has no such plate");
  }
  const std::vector<Tensor> inputs = api::log_inputs(impl, operands, options);
  const auto runnable = impl.question("leave one out of " + std::string(plate), [&] {
    return adjoint::predictive_schedule(impl.observed, impl.options, *dim);
  });
  engine::Settings settings = api::settings_of(options);
  settings.semiring = Semiring::log;
  std::vector<DimId> axes = adjoint::batch_axes(impl.graph);
  const std::vector<std::int64_t> batch = api::sizes(impl.graph, axes);
  axes.push_back(*dim);
  std::vector<std::int64_t> shape = api::sizes(impl.graph, axes);
  const std::vector<Tensor> totals = runnable->run(
      {api::shape_only(Dtype::float64, batch), api::shape_only(Dtype::float64, shape)}, inputs, settings);
  return api::predictive(impl.graph, *dim, totals[0], totals[1], engine::element_dtype(operands));
}

Tensor leave_one_out(std::string_view equation, const std::vector<Tensor>& operands, std::string_view plate,
                     const EinsumOptions& options) {
  return leave_one_out(api::cached_plan(equation, operands, options), operands, plate, api::run_options(options));
}

}  // namespace plated
