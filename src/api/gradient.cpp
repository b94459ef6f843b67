// value_and_gradient and hessian_vector_product.
#include "plated/gradient.hpp"

#include <algorithm>
#include <iterator>

#include "adjoint/questions.hpp"
#include "api/chained.hpp"
#include "api/inputs.hpp"
#include "api/plan_cache.hpp"
#include "api/question_inputs.hpp"
#include "base/watch.hpp"
#include "engine/check_operands.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

Semiring differentiable(Semiring semiring) {
  if (semiring == Semiring::log || semiring == Semiring::real) return semiring;
  throw OptionError("gradients exist in the log and real semirings, not in " + std::string(name(semiring)));
}

/// The cotangents of all outputs, ones where none are given.
std::vector<Tensor> cotangents_of(const FactorGraph& graph, const std::vector<Tensor>& given) {
  if (!given.empty() && given.size() != graph.outputs().size()) {
    throw OperandCountError("the model has " + std::to_string(graph.outputs().size()) + " outputs, but " +
                            std::to_string(given.size()) + " cotangents were given");
  }
  std::vector<Tensor> all;
  for (std::size_t o = 0; o < graph.outputs().size(); ++o) {
    const std::vector<std::int64_t> shape = api::sizes(graph, graph.outputs()[o].dims);
    if (given.empty()) {
      all.push_back(api::constant(1.0, Dtype::float64, shape));
    } else {
      engine::check_like("the cotangent of output " + std::to_string(o), given[o], shape);
      all.push_back(given[o]);
    }
  }
  return all;
}

bool any_negative(const std::vector<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    const std::vector<double> values = tensor.values();
    return std::any_of(values.begin(), values.end(), [](double x) { return x < 0; });
  });
}

/// Which gradients are wanted, and their places: the caller's, or shapes to be allocated.
struct Targets {
  std::vector<bool> wanted;
  std::vector<Tensor> places;  // of the wanted ones
};

Targets targets_of(const FactorGraph& graph, std::span<const Tensor> operands, const std::vector<Tensor>& given,
                   std::span<const Tensor> read) {
  if (!given.empty() && given.size() != operands.size()) {
    throw OperandCountError(std::to_string(operands.size()) + " operands have as many gradients, but places for " +
                            std::to_string(given.size()) + " were given");
  }
  Targets targets{.wanted = std::vector<bool>(operands.size(), true), .places = {}};
  for (std::size_t f = 0; f < operands.size(); ++f) {
    if (given.empty()) {
      targets.places.push_back(api::shape_only(operands[f].dtype(), operands[f].shape()));
    } else if (given[f].data() == nullptr) {
      targets.wanted[f] = false;
    } else {
      targets.places.push_back(given[f]);
    }
  }
  if (!given.empty()) engine::check_gradients(graph, targets.wanted, targets.places, read);
  return targets;
}

bool at_least_as_wide(const std::vector<Tensor>& places, Dtype dtype) {
  return std::all_of(places.begin(), places.end(),
                     [&](const Tensor& place) { return size_of(place.dtype()) >= size_of(dtype); });
}

}  // namespace

ValueAndGradient value_and_gradient(const Plan& plan, std::span<const Tensor> operands, const RunOptions& options,
                                    const GradientOptions& gradient) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  const Semiring semiring = differentiable(options.semiring);
  const api::Inputs prepared = api::question_inputs(impl, operands, options);
  const engine::Settings settings = api::question_settings(options, prepared, semiring);
  std::vector<Tensor> inputs = prepared.centred;
  const std::vector<Tensor> cotangents = cotangents_of(impl.graph, gradient.cotangents);
  inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
  Targets targets = targets_of(impl.graph, operands, gradient.gradients, inputs);

  adjoint::GradientQuestion question{.semiring = options.semiring,
                                     .nonnegative = !any_negative(gradient.cotangents),
                                     .reads_answers = at_least_as_wide(targets.places, engine::element_dtype(operands)),
                                     .wanted = targets.wanted};
  std::string key = "gradient " + std::string(name(question.semiring)) + (question.nonnegative ? " + " : " ± ") +
                    (question.reads_answers ? "" : "narrow ");
  for (const bool wanted : question.wanted) key += wanted ? '1' : '0';
  const Dtype dtype = engine::element_dtype(operands);
  std::vector<Tensor> outputs = api::output_shapes(impl.graph, dtype);
  const std::size_t values = outputs.size();
  outputs.insert(outputs.end(), std::make_move_iterator(targets.places.begin()),
                 std::make_move_iterator(targets.places.end()));
  if (impl.chains) {
    question.wanted.resize(impl.observed.factors().size(), false);
    outputs =
        chain::gradient(*impl.chains, question, std::move(outputs), inputs, api::ChainCall(impl, options, settings));
  } else {
    const auto runnable =
        impl.question(key, [&] { return adjoint::gradient_schedule(impl.observed, impl.options, question); });
    outputs = runnable->run(std::move(outputs), inputs, settings);
  }
  watch.finish();

  ValueAndGradient result;
  const auto first_gradient = outputs.begin() + static_cast<std::ptrdiff_t>(values);
  result.values.assign(std::make_move_iterator(outputs.begin()), std::make_move_iterator(first_gradient));
  if (prepared.recentred()) result.values = api::given_outputs(impl, prepared, options, settings, dtype);
  result.gradients.reserve(operands.size());
  auto next = first_gradient;
  for (std::size_t f = 0; f < operands.size(); ++f) {
    if (targets.wanted[f]) {
      result.gradients.push_back(std::move(*next++));
    } else {
      result.gradients.push_back(gradient.gradients[f]);
    }
  }
  api::check_results(result.values, "output", semiring, options);
  api::check_results(result.gradients, "the gradient of operand", Semiring::real, options);
  return result;
}

ValueAndGradient value_and_gradient(std::string_view equation, const std::vector<Tensor>& operands,
                                    const EinsumOptions& options, const GradientOptions& gradient) {
  return value_and_gradient(api::cached_plan(equation, operands, options), operands, api::run_options(options),
                            gradient);
}

HessianVectorProduct hessian_vector_product(const Plan& plan, std::span<const Tensor> operands,
                                            std::span<const Tensor> direction, const RunOptions& options,
                                            const std::vector<Tensor>& cotangents) {
  const base::Watch watch(options.cancelled, options.progress);
  const api::PlanImpl& impl = api::PlanAccess::impl(plan);
  if (impl.chains) throw OptionError("Hessian-vector products are not supported with chains; unroll them");
  const Semiring semiring = differentiable(options.semiring);
  const api::Inputs prepared = api::question_inputs(impl, operands, options);
  const engine::Settings settings = api::question_settings(options, prepared, semiring);
  std::vector<Tensor> inputs = prepared.centred;
  const std::vector<Tensor> seeds = cotangents_of(impl.graph, cotangents);
  inputs.insert(inputs.end(), seeds.begin(), seeds.end());
  if (direction.size() != operands.size()) {
    throw OperandCountError(std::to_string(operands.size()) + " operands need as many directions, but " +
                            std::to_string(direction.size()) + " were given");
  }
  for (std::size_t f = 0; f < operands.size(); ++f) {
    engine::check_like("the direction of operand " + std::to_string(f), direction[f], operands[f].shape());
    inputs.push_back(direction[f]);
  }
  // Evidence does not move.
  for (const DimId v : impl.observable) {
    inputs.push_back(api::constant(0.0, Dtype::float64, api::sizes(impl.graph, impl.axes(v))));
  }
  const auto runnable = impl.question("hessian " + std::string(name(options.semiring)), [&] {
    return adjoint::hessian_schedule(impl.observed, impl.options, options.semiring);
  });
  const Dtype dtype = engine::element_dtype(operands);
  std::vector<Tensor> outputs = api::output_shapes(impl.graph, dtype);
  const std::size_t values = outputs.size();
  for (std::size_t o = 0; o < values; ++o) outputs.push_back(outputs[o]);
  for (const Tensor& operand : inputs) {
    if (outputs.size() == 2 * values + impl.observed.factors().size()) break;
    outputs.push_back(api::shape_only(operand.dtype(), operand.shape()));
  }
  outputs = runnable->run(std::move(outputs), inputs, settings);
  HessianVectorProduct result;
  const auto at = [&](std::size_t k) { return outputs.begin() + static_cast<std::ptrdiff_t>(k); };
  result.tangents.assign(at(values), at(2 * values));
  result.products.assign(at(2 * values), at(2 * values + operands.size()));
  api::check_results(result.tangents, "the tangent of output", Semiring::real, options);
  api::check_results(result.products, "the product of operand", Semiring::real, options);
  return result;
}

HessianVectorProduct hessian_vector_product(std::string_view equation, const std::vector<Tensor>& operands,
                                            const std::vector<Tensor>& direction, const EinsumOptions& options,
                                            const std::vector<Tensor>& cotangents) {
  return hessian_vector_product(api::cached_plan(equation, operands, options), operands, direction,
                                api::run_options(options), cotangents);
}

}  // namespace plated
