// Einsum as a function of autograd: its derivatives are those that a plan computes.
#include "plated/torch/einsum.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "plated/error.hpp"
#include "plated/evaluation.hpp"
#include "plated/gradient.hpp"

namespace plated::torch {

namespace {

using ::torch::autograd::AutogradContext;
using ::torch::autograd::Function;
using ::torch::autograd::variable_list;

/// What is asked, without its operands. Autograd carries it from a run to its derivatives.
struct Asked : ::torch::CustomClassHolder {
  Asked(Plan asked, RunOptions how) : plan(std::move(asked)), options(std::move(how)) {}

  Plan plan;
  RunOptions options;
  std::vector<bool> wanted = {};                       // the operands that a gradient is wanted for
  bool separable = false;                              // the gradients were computed along with the values
  std::optional<Evaluation> evaluation = {};           // or the forward run was kept
  std::vector<std::vector<std::int64_t>> shapes = {};  // of the outputs
  at::ScalarType type = at::kDouble;                   // of the outputs
};
using AskedPointer = c10::intrusive_ptr<Asked>;

std::vector<Tensor> views(at::TensorList tensors) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) result.push_back(view(tensor));
  return result;
}

variable_list tensors(const std::vector<Tensor>& answers) {
  variable_list result;
  result.reserve(answers.size());
  for (const Tensor& answer : answers) result.push_back(tensor(answer));
  return result;
}

/// Whether the vector–Jacobian product is the gradient of the outputs' sum, scaled by the cotangent of its batch: where
/// the one output has batch dims only and every operand in question has each of them once.
bool is_separable(const Asked& asked) {
  const FactorGraph& graph = asked.plan.graph();
  if (graph.outputs().size() > 1) return false;
  std::vector<DimId> kept;
  for (DimId k = 0; k < graph.dims().size(); ++k) {
    if (graph.dims()[k].kind == DimKind::batch) kept.push_back(k);
  }
  if (!graph.outputs().empty()) {
    kept = graph.outputs()[0].dims;
    for (const DimId dim : kept) {
      if (graph.dims()[dim].kind != DimKind::batch) return false;
    }
  }
  for (std::size_t k = 0; k < graph.factors().size(); ++k) {
    if (!asked.wanted[k]) continue;
    for (const DimId dim : kept) {
      if (std::ranges::count(graph.factors()[k].dims, dim) != 1) return false;
    }
  }
  return true;
}

/// A gradient times the cotangent, whose axes are found among the operand's by name.
at::Tensor scaled(const FactorGraph& graph, std::size_t operand, const at::Tensor& gradient,
                  const at::Tensor& cotangent) {
  const at::Tensor factor = cotangent.to(gradient.scalar_type());
  if (factor.dim() == 0) return gradient * factor;
  std::vector<DimId> output;
  for (DimId k = 0; k < graph.dims().size(); ++k) {
    if (graph.dims()[k].kind == DimKind::batch) output.push_back(k);
  }
  if (!graph.outputs().empty()) output = graph.outputs()[0].dims;
  std::vector<std::int64_t> order;
  std::vector<std::int64_t> shape;
  for (const DimId dim : graph.factors()[operand].dims) {
    const auto found = std::ranges::find(output, dim);
    if (found != output.end()) order.push_back(found - output.begin());
    shape.push_back(found == output.end() ? 1 : cotangent.size(found - output.begin()));
  }
  return gradient * factor.permute(order).reshape(shape);
}

/// The values, and gradients of the wanted operands; without cotangents of the outputs' sum.
std::pair<variable_list, variable_list> values_and_gradients(const Asked& asked, at::TensorList operands,
                                                             at::TensorList cotangents) {
  GradientOptions places{.cotangents = views(cotangents)};
  variable_list gradients(operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (asked.wanted[k]) gradients[k] = at::empty(operands[k].sizes(), operands[k].options());
    places.gradients.push_back(asked.wanted[k] ? view(gradients[k]) : Tensor());
  }
  const ValueAndGradient both = value_and_gradient(asked.plan, views(operands), asked.options, places);
  return {tensors(both.values), std::move(gradients)};
}

/// The vector–Jacobian products of a kept run for the wanted operands.
variable_list kept_gradients(const Asked& asked, at::TensorList cotangents) {
  std::vector<std::int64_t> numbers;
  for (std::size_t k = 0; k < asked.wanted.size(); ++k) {
    if (asked.wanted[k]) numbers.push_back(static_cast<std::int64_t>(k));
  }
  const std::vector<Tensor> found = asked.evaluation->gradient(views(cotangents), numbers);
  variable_list gradients(asked.wanted.size());
  for (const std::int64_t k : numbers) gradients[k] = tensor(found[k]);
  return gradients;
}

/// Gradients for autograd, in their order behind the first argument of apply().
variable_list answer_of(variable_list gradients) {
  gradients.insert(gradients.begin(), at::Tensor());
  return gradients;
}

variable_list part(const variable_list& list, std::size_t first, std::size_t last) {
  return {list.begin() + static_cast<std::ptrdiff_t>(first), list.begin() + static_cast<std::ptrdiff_t>(last)};
}

void keep(AutogradContext* context, const AskedPointer& asked, const variable_list& saved) {
  context->set_materialize_grads(false);
  context->saved_data["asked"] = c10::IValue::make_capsule(asked);
  context->save_for_backward(saved);
}

AskedPointer kept(const AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<Asked>(context->saved_data.at("asked").toCapsule());
}

bool none_defined(const variable_list& list) {
  return std::ranges::none_of(list, [](const at::Tensor& tensor) { return tensor.defined(); });
}

/// The derivatives in a direction of the outputs and of their gradients: ⟨u, Jᵀc⟩ by c and by the operands. They have
/// no derivative of their own.
struct SecondDerivatives : Function<SecondDerivatives> {
  static variable_list forward(AutogradContext* context, const AskedPointer& asked, at::TensorList directions,
                               at::TensorList operands, at::TensorList cotangents) {
    context->set_materialize_grads(false);
    const HessianVectorProduct both =
        hessian_vector_product(asked->plan, views(operands), views(directions), asked->options, views(cotangents));
    variable_list result = tensors(both.products);
    const variable_list tangents = tensors(both.tangents);
    result.insert(result.end(), tangents.begin(), tangents.end());
    return result;
  }
  static variable_list backward(AutogradContext* /*context*/, const variable_list& /*cotangents*/) {
    throw OptionError("plated::torch has first and second derivatives; this asks for a third");
  }
};

/// Vector–Jacobian products that can be differentiated.
struct Gradients : Function<Gradients> {
  static variable_list forward(AutogradContext* context, const AskedPointer& asked, at::TensorList operands,
                               at::TensorList cotangents) {
    variable_list saved = operands.vec();
    saved.insert(saved.end(), cotangents.begin(), cotangents.end());
    keep(context, asked, saved);
    variable_list gradients = asked->evaluation ? kept_gradients(*asked, cotangents)
                                                : values_and_gradients(*asked, operands, cotangents).second;
    std::erase_if(gradients, [](const at::Tensor& gradient) { return !gradient.defined(); });
    return gradients;
  }
  static variable_list backward(AutogradContext* context, const variable_list& directions) {
    const AskedPointer asked = kept(context);
    const variable_list saved = context->get_saved_variables();
    const std::size_t count = asked->wanted.size();
    if (none_defined(directions)) return variable_list(1 + saved.size());
    const variable_list operands = part(saved, 0, count);
    const variable_list cotangents = part(saved, count, saved.size());
    variable_list along(count);
    std::size_t next = 0;
    for (std::size_t k = 0; k < count; ++k) {
      if (asked->wanted[k]) along[k] = directions[next++];
      if (!along[k].defined()) along[k] = at::zeros_like(operands[k]);
    }
    return answer_of(
        SecondDerivatives::apply(asked, at::TensorList(along), at::TensorList(operands), at::TensorList(cotangents)));
  }
};

/// The outputs. Their gradients are computed along with them where a cotangent can only scale them; otherwise the
/// forward run is kept, and the backward one starts from it.
struct Einsum : Function<Einsum> {
  static variable_list forward(AutogradContext* context, const AskedPointer& asked, at::TensorList operands) {
    variable_list saved = operands.vec();
    variable_list values;
    if (asked->separable) {
      variable_list gradients;
      std::tie(values, gradients) = values_and_gradients(*asked, operands, {});
      saved.insert(saved.end(), gradients.begin(), gradients.end());
    } else if (asked->plan.graph().chains().empty() && asked->options.memory_limit == 0) {
      // What is kept cannot be cut to a limit; and a chain's values and gradients take less time together than a kept
      // run and its gradients.
      asked->evaluation = asked->plan.evaluate(views(operands), asked->options);
      values = tensors(asked->evaluation->value());
    } else {
      values = tensors(asked->plan.run(views(operands), asked->options));
    }
    for (const at::Tensor& value : values) asked->shapes.push_back(value.sizes().vec());
    asked->type = values[0].scalar_type();
    keep(context, asked, saved);
    return values;
  }
  static variable_list backward(AutogradContext* context, variable_list cotangents) {
    const AskedPointer asked = kept(context);
    const std::size_t count = asked->wanted.size();
    if (none_defined(cotangents)) return variable_list(1 + count);
    for (std::size_t k = 0; k < cotangents.size(); ++k) {
      if (!cotangents[k].defined()) cotangents[k] = at::zeros(asked->shapes[k], asked->type);
    }
    const variable_list saved = context->get_saved_variables();
    const variable_list operands = part(saved, 0, count);
    if (c10::GradMode::is_enabled()) {  // a graph of the gradients is wanted
      const variable_list found = Gradients::apply(asked, at::TensorList(operands), at::TensorList(cotangents));
      variable_list gradients(count);
      std::size_t next = 0;
      for (std::size_t k = 0; k < count; ++k) {
        if (asked->wanted[k]) gradients[k] = found[next++];
      }
      return answer_of(std::move(gradients));
    }
    if (asked->evaluation) return answer_of(kept_gradients(*asked, cotangents));
    if (!asked->separable) return answer_of(values_and_gradients(*asked, operands, cotangents).second);
    variable_list gradients = part(saved, count, 2 * count);
    for (std::size_t k = 0; k < count; ++k) {
      if (asked->wanted[k]) gradients[k] = scaled(asked->plan.graph(), k, gradients[k], cotangents[0]);
    }
    return answer_of(std::move(gradients));
  }
};

at::Tensor only(std::vector<at::Tensor> outputs) {
  if (outputs.size() != 1) {
    throw OptionError("einsum has one output, not " + std::to_string(outputs.size()) + "; einsum_all gives several");
  }
  return std::move(outputs[0]);
}

void check_total(const FactorGraph& graph, Semiring semiring) {
  if (semiring != Semiring::log) throw OptionError("log_partition is in the log semiring; einsum has others");
  for (const Output& output : graph.outputs()) {
    for (const DimId dim : output.dims) {
      if (graph.dims()[dim].kind != DimKind::batch) {
        throw OptionError("log_partition keeps batch dims only, and '" + graph.dims()[dim].name +
                          "' is none: einsum keeps it");
      }
    }
  }
}

}  // namespace

std::vector<at::Tensor> einsum_all(const Plan& plan, at::TensorList operands, const RunOptions& options) {
  const bool differentiable = options.semiring == Semiring::log || options.semiring == Semiring::real;
  const bool wanted = c10::GradMode::is_enabled() && differentiable &&
                      std::ranges::any_of(operands, [](const at::Tensor& operand) { return operand.requires_grad(); });
  if (!wanted || operands.size() != plan.graph().factors().size()) return tensors(plan.run(views(operands), options));
  const auto asked = c10::make_intrusive<Asked>(plan, options);
  for (const at::Tensor& operand : operands) asked->wanted.push_back(operand.requires_grad());
  asked->separable = is_separable(*asked);
  return Einsum::apply(asked, operands);
}

std::vector<at::Tensor> einsum_all(std::string_view equation, at::TensorList operands, const EinsumOptions& options) {
  return einsum_all(compile(equation, views(operands), options), operands, options.running());
}

at::Tensor einsum(std::string_view equation, at::TensorList operands, const EinsumOptions& options) {
  return only(einsum_all(equation, operands, options));
}

at::Tensor einsum(const Plan& plan, at::TensorList operands, const RunOptions& options) {
  return only(einsum_all(plan, operands, options));
}

at::Tensor log_partition(std::string_view equation, at::TensorList operands, const EinsumOptions& options) {
  const std::string total(equation);
  const Plan plan = compile(total.find("->") == std::string::npos ? total + "->" : total, views(operands), options);
  return log_partition(plan, operands, options.running());
}

at::Tensor log_partition(const Plan& plan, at::TensorList operands, const RunOptions& options) {
  check_total(plan.graph(), options.semiring);
  return einsum(plan, operands, options);
}

}  // namespace plated::torch
