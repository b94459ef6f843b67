// The functions that XLA calls for plated.jax, and the module that hands them to JAX.
#include "jax.hpp"

#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "jax_request.hpp"
#include "plated/error.hpp"
#include "plated/gradient.hpp"

namespace plated::python {
namespace {

/// The version of the interface that is spoken: the oldest that has all it needs.
void describe(xla::Metadata& metadata) {
  metadata.version = {.struct_size = sizeof(xla::ApiVersion), .extensions = nullptr, .major = 0, .minor = 1};
  metadata.traits = 0;
}

/// Answers a call with `answer`, given the request and an element of its batch; an exception becomes XLA's error.
template <class Answer>
xla::Error* respond(const xla::CallFrame* frame, Answer answer) {
  if (frame->extensions != nullptr && frame->extensions->type == xla::metadata_extension) {
    describe(*reinterpret_cast<xla::MetadataExtension*>(frame->extensions)->metadata);
    return nullptr;
  }
  std::string message;
  try {
    const JaxRequest request(*frame);
    for (std::int64_t element = 0; element < request.batch(); ++element) answer(request, element);
    return nullptr;
  } catch (const std::exception& error) {
    message = error.what();
  }
  xla::ErrorArguments arguments{.struct_size = sizeof arguments,
                                .extensions = nullptr,
                                .message = message.c_str(),
                                .code = xla::ErrorCode::invalid_argument};
  return frame->api->make_error(&arguments);
}

/// operands, lengths → outputs
xla::Error* value(xla::CallFrame* frame) {
  return respond(frame, [](const JaxRequest& request, std::int64_t element) {
    const std::vector<Tensor> operands = request.operands(element);
    const EinsumOptions options = request.options(element);
    const Plan plan = compile(request.equation(), operands, options);
    Workspace workspace(plan);
    plan.run_into(request.results(0, request.result_count(), element), operands, workspace, options.running());
  });
}

/// operands, lengths, cotangents → gradients
xla::Error* gradient(xla::CallFrame* frame) {
  return respond(frame, [](const JaxRequest& request, std::int64_t element) {
    GradientOptions gradient;
    gradient.cotangents = request.further(0, request.further_count(), element);
    gradient.gradients = request.results(0, request.result_count(), element);
    (void)value_and_gradient(request.equation(), request.operands(element), request.options(element), gradient);
  });
}

/// Both are dense and row-major.
void copy(const Tensor& from, const Tensor& to) {
  if (from.dtype() != to.dtype() || from.shape() != to.shape())
    throw OptionError("a result has another shape or dtype");
  std::memcpy(to.mutable_data(), from.data(), static_cast<std::size_t>(from.elements()) * size_of(from.dtype()));
}

/// operands, lengths, directions, cotangents → tangents of the outputs, products for the operands
xla::Error* hessian(xla::CallFrame* frame) {
  return respond(frame, [](const JaxRequest& request, std::int64_t element) {
    const std::int64_t factors = request.operand_count();
    const std::int64_t outputs = request.further_count() - factors;
    const HessianVectorProduct product =
        hessian_vector_product(request.equation(), request.operands(element), request.further(0, factors, element),
                               request.options(element), request.further(factors, outputs, element));
    const std::vector<Tensor> targets = request.results(0, request.result_count(), element);
    for (std::size_t k = 0; k < product.tangents.size(); ++k) copy(product.tangents[k], targets[k]);
    for (std::size_t k = 0; k < product.products.size(); ++k)
      copy(product.products[k], targets[product.tangents.size() + k]);
  });
}

}  // namespace

void define_jax(nb::module_& module) {
  module.def(
      "jax_handlers",
      [] {
        nb::dict handlers;
        const auto add = [&](const char* name, xla::Error* (*handler)(xla::CallFrame*)) {
          handlers[name] = nb::capsule(reinterpret_cast<void*>(handler), "xla._CUSTOM_CALL_TARGET");
        };
        add("plated_value", value);
        add("plated_gradient", gradient);
        add("plated_hessian", hessian);
        return handlers;
      },
      "Functions of XLA's foreign-function interface, for plated.jax.");
}

}  // namespace plated::python
