// What questions about derivatives bring along: cotangents of outputs, and directions of operands.
#pragma once

#include <vector>

#include "api/sweep.hpp"

namespace plated::api {

/// The semiring, if it has derivatives. Throws OptionError.
[[nodiscard]] Semiring differentiable(Semiring semiring);

/// Throws OperandCountError unless there are none or one for each output.
void check_count(const FactorGraph& graph, Tensors cotangents);

/// Cotangents of ones.
[[nodiscard]] std::vector<Tensor> ones(const Call& call);

/// What a question brings along for some dims, checked; what is not there has none. `what` and a number name it.
[[nodiscard]] Tensor brought(const Call& call, const Tensor& given, const std::vector<DimId>& dims,
                             const Tensor::Shape& shape, const char* what, std::size_t number);

/// Has a sweep read these cotangents in place of ones.
void bring_cotangents(Sweep& sweep, const Call& call, Tensors given);

}  // namespace plated::api
