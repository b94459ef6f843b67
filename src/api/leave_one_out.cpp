// leave_one_out: compares the total with and without each slice of a plate.
#include <algorithm>

#include "api/plan_cache.hpp"
#include "api/posed.hpp"
#include "base/watch.hpp"
#include "engine/check_answers.hpp"
#include "engine/erase.hpp"
#include "engine/log_posterior.hpp"
#include "plated/error.hpp"
#include "plated/marginals.hpp"

namespace plated {

namespace {

/// The total of all slices, and that without each of them.
std::vector<Tensor> totals(const api::Posed& posed, DimId plate) {
  const api::Call& call = posed.call;
  const std::string& name = call.graph.dims()[plate].name;
  std::vector<std::int64_t> slices = call.batch_shape();
  slices.push_back(call.extents()[plate]);
  const adjoint::Asked asked = call.plan.parts({.kind = Question::Kind::leave_one_out, .plate = name})[0];
  return posed.run(asked, Dtype::float64, {api::shape_only(Dtype::float64, slices)});
}

/// The answer in the operands' type.
Tensor answered(const Tensor& values, const api::Posed& posed) {
  Tensor answer = engine::filled(posed.dtype, values.shape(), values.values());
  engine::check_answer("the answer", "", answer, Semiring::log);
  return answer;
}

std::vector<std::size_t> indices(const FactorGraph& graph, const std::vector<std::string>& factors) {
  std::vector<std::size_t> list;
  for (const std::string& factor : factors) {
    const auto found = std::find_if(graph.factors().begin(), graph.factors().end(),
                                    [&](const Factor& known) { return known.name == factor; });
    if (found == graph.factors().end()) {
      throw UnknownNameError("factor '" + factor + "' is to be left out, and the model has no such factor");
    }
    const auto index = static_cast<std::size_t>(found - graph.factors().begin());
    if (std::find(list.begin(), list.end(), index) != list.end()) {
      throw DuplicateNameError("factor '" + factor + "' is named twice among those to leave out");
    }
    list.push_back(index);
  }
  return list;
}

/// Some factors in each slice of a chain.
Tensor along_chain(const api::Call& call, DimId chain, const std::vector<std::size_t>& factors) {
  const api::Posed posed(call, api::log_inputs(call, api::Look::before), Semiring::log);
  adjoint::Asked asked =
      call.plan.parts({.kind = Question::Kind::leave_one_out, .plate = call.graph.dims()[chain].name})[0];
  asked.chosen.resize(call.plan.observed.factors().size(), false);
  for (const std::size_t f : factors) asked.chosen[f] = true;
  const std::vector<DimId> axes = call.plan.runnable(asked)->schedule().outputs.back();
  const std::vector<Tensor> both =
      posed.run(asked, Dtype::float64, {api::shape_only(Dtype::float64, call.shape(axes))});
  const auto erase = [&](const Tensor& answer) { engine::erase(call.extents(), call.presence(), axes, answer, 0.0); };
  erase(both[1]);
  Tensor answer = engine::predictive(call.graph, chain, both[0], both[1]);
  api::add_offsets(call, posed.inputs, factors, axes, answer);
  erase(answer);
  base::tell_progress(1);
  return answered(answer, posed);
}

}  // namespace

Tensor leave_one_out(const Plan& plan, std::span<const Tensor> operands, std::string_view plate,
                     const RunOptions& options, const std::vector<std::string>& factors) {
  const base::Watch watch(options.cancelled, options.progress);
  const auto dim = plan.graph().find(plate);
  if (!dim || !has_slices(plan.graph().dims()[*dim].kind)) {
    throw UnknownNameError("slices of '" + std::string(plate) +
                           "' are to be left out, and the model has no such plate or chain");
  }
  const api::Call call(plan, operands, options);
  if (call.graph.dims()[*dim].kind == DimKind::chain) return along_chain(call, *dim, indices(call.graph, factors));
  if (!factors.empty()) throw OptionError("factors to leave out are named for a chain; of a plate, whole slices are");
  const api::Posed posed(call, api::log_inputs(call, api::Look::before), Semiring::log);
  const std::vector<Tensor> both = totals(posed, *dim);
  Tensor answer = engine::predictive(call.graph, *dim, both[0], both[1]);
  std::vector<DimId> axes = graph::batch_axes(call.graph);
  axes.push_back(*dim);
  std::vector<std::size_t> left_out;
  for (std::size_t f = 0; f < call.graph.factors().size(); ++f) {
    if (engine::holds(call.graph.factor_plates(f), *dim)) left_out.push_back(f);
  }
  api::add_offsets(call, posed.inputs, left_out, axes, answer);
  engine::erase(call.extents(), call.presence(), axes, answer, 0.0);
  watch.finish();
  return answered(answer, posed);
}

Tensor leave_one_out(std::string_view equation, const std::vector<Tensor>& operands, std::string_view plate,
                     const EinsumOptions& options, const std::vector<std::string>& factors) {
  const Plan plan = api::cached_plan(equation, operands, options);
  return leave_one_out(plan, std::span<const Tensor>(operands), plate, api::run_options(options), factors);
}

}  // namespace plated
