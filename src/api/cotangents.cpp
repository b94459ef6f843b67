// Checks what questions about derivatives bring along, and hands it to their sweeps.
#include "api/cotangents.hpp"

#include "api/padding.hpp"
#include "engine/check_operands.hpp"
#include "engine/indicator.hpp"
#include "engine/inspect.hpp"
#include "plated/error.hpp"

namespace plated::api {

Semiring differentiable(Semiring semiring) {
  if (semiring == Semiring::log || semiring == Semiring::real) return semiring;
  throw OptionError("gradients exist in the log and real semirings, not in " + std::string(name(semiring)));
}

void check_count(const FactorGraph& graph, Tensors cotangents) {
  if (cotangents.empty() || cotangents.size() == graph.outputs().size()) return;
  throw OperandCountError("the model has " + std::to_string(graph.outputs().size()) + " outputs, but " +
                          std::to_string(cotangents.size()) + " cotangents were given");
}

std::vector<Tensor> ones(const Call& call) {
  std::vector<Tensor> all;
  for (const Output& output : call.graph.outputs()) {
    const Tensor cotangent = engine::constant(1.0, Dtype::float64, call.shape(output.dims));
    all.push_back(zero_padded(call, output.dims, cotangent));
  }
  return all;
}

Tensor brought(const Call& call, const Tensor& given, const std::vector<DimId>& dims, const Tensor::Shape& shape,
               const char* what, std::size_t number) {
  Tensor existing = zero_padded(call, dims, given);
  const bool fits = existing.shape() == shape && (existing.data() != nullptr || existing.elements() == 0);
  if (!fits || !engine::admits(existing, Semiring::real, 1)) {
    engine::check_like(what + std::to_string(number), existing, shape);
  }
  return existing;
}

void bring_cotangents(Sweep& sweep, const Call& call, Tensors given) {
  for (std::size_t o = 0; o < given.size(); ++o) {
    const std::vector<DimId>& dims = call.graph.outputs()[o].dims;
    sweep.bring(o, brought(call, given[o], dims, sweep.brought_shape(o), "the cotangent of output ", o));
  }
}

}  // namespace plated::api
