// Derivatives of a plan's outputs by each of its factors.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "plated/einsum.hpp"
#include "plated/plan.hpp"
#include "plated/tensor.hpp"

namespace plated {

/// Options of value_and_gradient.
struct GradientOptions {
  /// One for each output, of its shape: the result is the vector–Jacobian product with them. Without any, every entry
  /// of every output counts once, which for a single number is its gradient.
  std::vector<Tensor> cotangents = {};
  /// Where to write the gradients: one for each operand, of its shape, in any strides and dtype; a tensor without data
  /// stands for a gradient that is not wanted. Empty: all gradients, freshly allocated in their operands' dtypes.
  std::vector<Tensor> gradients = {};
};

struct ValueAndGradient {
  std::vector<Tensor> values;          ///< what einsum_all returns, to rounding
  std::vector<Tensor> gradients = {};  ///< one for each operand, in its shape; those not wanted have no data
};

/// The outputs and their derivative by each operand, in the real and log semirings (OptionError in others). A tied
/// factor's gradient is summed over the slices it stands for; entries off the diagonal of an operand with a repeated
/// dim have none. In log space the gradient of log Z is the factor's posterior; an entry of probability zero has
/// gradient zero, and where an output is −inf nothing has a gradient. No NaN, unless sums of the operands overflow.
///
///   auto [values, gradients] = value_and_gradient("x,iy,ijxy->", {f, g, h}, {.plates = "ij"});
[[nodiscard]] ValueAndGradient value_and_gradient(std::string_view equation, Tensors operands,
                                                  const EinsumOptions& options = {},
                                                  const GradientOptions& gradient = {});
[[nodiscard]] ValueAndGradient value_and_gradient(const Plan& plan, Tensors operands, const RunOptions& options = {},
                                                  const GradientOptions& gradient = {});

/// The same into the caller's memory; see marginals_into. Gradients go to the places that GradientOptions give, else to
/// those of the answer.
void value_and_gradient_into(ValueAndGradient& answer, const Plan& plan, Tensors operands, Workspace& workspace,
                             const RunOptions& options = {}, const GradientOptions& gradient = {});

struct HessianVectorProduct {
  std::vector<Tensor> tangents;  ///< one for each output: its derivative in the direction
  std::vector<Tensor> products;  ///< one for each operand: the gradient's derivative in the direction
};

/// The exact derivative, in a direction, of the outputs and of their gradients: `direction` holds a tensor shaped like
/// each operand. Cotangents are as in value_and_gradient.
[[nodiscard]] HessianVectorProduct hessian_vector_product(std::string_view equation, Tensors operands,
                                                          Tensors direction, const EinsumOptions& options = {},
                                                          Tensors cotangents = {});
[[nodiscard]] HessianVectorProduct hessian_vector_product(const Plan& plan, Tensors operands, Tensors direction,
                                                          const RunOptions& options = {}, Tensors cotangents = {});
/// The same into the caller's memory; see marginals_into.
void hessian_vector_product_into(HessianVectorProduct& answer, const Plan& plan, Tensors operands, Tensors direction,
                                 Workspace& workspace, const RunOptions& options = {}, Tensors cotangents = {});

}  // namespace plated
