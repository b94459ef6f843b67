// value_and_gradient and hessian_vector_product.
#include "plated/gradient.hpp"

#include <algorithm>
#include <iterator>

#include "api/ask.hpp"
#include "api/inputs.hpp"
#include "api/padding.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "engine/check_operands.hpp"
#include "engine/indicator.hpp"
#include "engine/inspect.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

Semiring differentiable(Semiring semiring) {
  if (semiring == Semiring::log || semiring == Semiring::real) return semiring;
  throw OptionError("gradients exist in the log and real semirings, not in " + std::string(name(semiring)));
}

/// The cotangents of all outputs, ones where none are given; what is not there has none.
std::vector<Tensor> cotangents_of(const api::Call& call, const std::vector<Tensor>& given) {
  const std::vector<Output>& outputs = call.graph.outputs();
  if (!given.empty() && given.size() != outputs.size()) {
    throw OperandCountError("the model has " + std::to_string(outputs.size()) + " outputs, but " +
                            std::to_string(given.size()) + " cotangents were given");
  }
  std::vector<Tensor> all;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const std::vector<std::int64_t> shape = call.shape(outputs[o].dims);
    if (!given.empty()) engine::check_like("the cotangent of output " + std::to_string(o), given[o], shape);
    const Tensor cotangent = given.empty() ? engine::constant(1.0, Dtype::float64, shape) : given[o];
    all.push_back(api::zero_padded(call, outputs[o].dims, cotangent));
  }
  return all;
}

/// Of cotangents that are finite.
bool any_negative(const std::vector<Tensor>& cotangents, int threads) {
  return std::any_of(cotangents.begin(), cotangents.end(), [&](const Tensor& cotangent) {
    return !engine::admits(cotangent, Semiring::max_product, threads);
  });
}

/// Which gradients are wanted, and their places: the caller's, or shapes to be allocated.
struct Targets {
  std::vector<bool> wanted;
  std::vector<Tensor> places;  // of the wanted ones
};

/// `read` gives what is read while they are written.
template <class Read>
Targets targets_of(const api::Call& call, const std::vector<Tensor>& given, const Read& read) {
  const std::span<const Tensor> operands = call.operands;
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
  if (!given.empty()) engine::check_gradients(call.graph, call.extents(), targets.wanted, targets.places, read());
  return targets;
}

bool at_least_as_wide(const std::vector<Tensor>& places, Dtype dtype) {
  return std::all_of(places.begin(), places.end(),
                     [&](const Tensor& place) { return size_of(place.dtype()) >= size_of(dtype); });
}

}  // namespace

ValueAndGradient api::ask_gradient(const Posed& posed, const GradientOptions& gradient) {
  const Call& call = posed.call;
  const PlanImpl& plan = call.plan;
  const std::vector<Tensor> cotangents = cotangents_of(call, gradient.cotangents);
  const auto read = [&] {
    std::vector<Tensor> inputs = posed.inputs.centred();
    inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
    return inputs;
  };
  Targets targets = targets_of(call, gradient.gradients, read);
  adjoint::Asked asked = plan.parts({.kind = Question::Kind::gradient, .semiring = posed.semiring})[0];
  asked.nonnegative = !any_negative(gradient.cotangents, call.threads());
  asked.reads_answers = at_least_as_wide(targets.places, posed.dtype);
  asked.chosen = targets.wanted;
  const std::size_t values = posed.outputs(asked);
  std::vector<bool> finite;
  std::vector<Tensor> outputs =
      posed.run(std::move(asked), posed.dtype, std::move(targets.places), cotangents, &finite);
  base::tell_progress(1);
  ValueAndGradient result;
  const auto first_gradient = outputs.begin() + static_cast<std::ptrdiff_t>(values);
  result.values.assign(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(call.graph.outputs().size()));
  if (posed.inputs.recentred()) result.values = posed.given_outputs(posed.dtype);
  erase_outputs(call, result.values, posed.semiring);
  result.gradients.reserve(call.operands.size());
  std::vector<Tensor> unseen;  // gradients that the run has not looked at as it wrote them
  auto next = first_gradient;
  for (std::size_t f = 0; f < call.operands.size(); ++f) {
    const auto o = static_cast<std::size_t>(next - outputs.begin());
    result.gradients.push_back(targets.wanted[f] ? *next++ : gradient.gradients[f]);
    unseen.push_back(targets.wanted[f] && finite[o] ? Tensor{} : result.gradients.back());
  }
  check_results(result.values, "output", posed.semiring, call);
  check_results(unseen, "the gradient of operand", Semiring::real, call);
  return result;
}

ValueAndGradient value_and_gradient(const Plan& plan, std::span<const Tensor> operands, const RunOptions& options,
                                    const GradientOptions& gradient) {
  const base::Watch watch(options.cancelled, options.progress);
  const Semiring semiring = differentiable(options.semiring);
  const api::Call call(plan, operands, options);
  return api::pose_as_given(call, semiring,
                            [&](const api::Posed& posed) { return api::ask_gradient(posed, gradient); });
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
  const Semiring semiring = differentiable(options.semiring);
  const api::Call call(plan, operands, options);
  const api::Posed posed(call, api::question_inputs(call, semiring, api::Look::before), semiring);
  std::vector<Tensor> more = cotangents_of(call, cotangents);
  if (direction.size() != operands.size()) {
    throw OperandCountError(std::to_string(operands.size()) + " operands need as many directions, but " +
                            std::to_string(direction.size()) + " were given");
  }
  for (std::size_t f = 0; f < operands.size(); ++f) {
    const Tensor existing = api::zero_padded(call, call.graph.factors()[f].dims, direction[f]);
    engine::check_like("the direction of operand " + std::to_string(f), existing, operands[f].shape());
    more.push_back(existing);
  }
  // Evidence does not move.
  for (const DimId v : call.plan.observable) {
    more.push_back(engine::constant(0.0, Dtype::float64, call.shape(call.plan.axes(v))));
  }
  std::vector<Tensor> answers = call.output_shapes(call.graph, posed.dtype);
  const std::size_t values = answers.size();
  const adjoint::Asked asked =
      call.plan.parts({.kind = Question::Kind::hessian_vector_product, .semiring = semiring})[0];
  const std::vector<Tensor> inputs = posed.operands(asked);
  for (std::size_t f = 0; f < call.plan.observed.factors().size(); ++f) {
    answers.push_back(api::shape_only(inputs[f].dtype(), inputs[f].shape()));
  }
  const std::vector<Tensor> outputs = posed.run(asked, posed.dtype, std::move(answers), more);
  HessianVectorProduct result;
  const auto at = [&](std::size_t k) { return outputs.begin() + static_cast<std::ptrdiff_t>(k); };
  result.tangents.assign(at(values), at(2 * values));
  result.products.assign(at(2 * values), at(2 * values + operands.size()));
  api::erase_outputs(call, result.tangents, 0.0);
  api::check_results(result.tangents, "the tangent of output", Semiring::real, call);
  api::check_results(result.products, "the product of operand", Semiring::real, call);
  return result;
}

HessianVectorProduct hessian_vector_product(std::string_view equation, const std::vector<Tensor>& operands,
                                            const std::vector<Tensor>& direction, const EinsumOptions& options,
                                            const std::vector<Tensor>& cotangents) {
  return hessian_vector_product(api::cached_plan(equation, operands, options), operands, direction,
                                api::run_options(options), cotangents);
}

}  // namespace plated
