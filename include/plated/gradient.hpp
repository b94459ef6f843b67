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
  std::vector<Tensor> cotangents;
  /// Where to write the gradients: one for each operand, of its shape, in any strides and dtype; a tensor without data
  /// stands for a gradient that is not wanted. Empty: all gradients, freshly allocated in their operands' dtypes.
  std::vector<Tensor> gradients;
};

struct ValueAndGradient {
  std::vector<Tensor> values;     ///< what einsum_all returns, to rounding
  std::vector<Tensor> gradients;  ///< one for each operand, in its shape; those not wanted have no data
};

/// The outputs and their derivative by each operand, in the real and log semirings (OptionError in others). A tied
/// factor's gradient is summed over the slices it stands for; entries off the diagonal of an operand with a repeated
/// dim have none. In log space the gradient of log Z is the factor's posterior; an entry of probability zero has
/// gradient zero, and where an output is −inf nothing has a gradient. No NaN, unless sums of the operands overflow.
///
///   auto [values, gradients] = value_and_gradient("x,iy,ijxy->", {f, g, h}, {.plates = "ij"});
[[nodiscard]] ValueAndGradient value_and_gradient(std::string_view equation, const std::vector<Tensor>& operands,
                                                  const EinsumOptions& options = {},
                                                  const GradientOptions& gradient = {});
[[nodiscard]] ValueAndGradient value_and_gradient(const Plan& plan, std::span<const Tensor> operands,
                                                  const RunOptions& options = {}, const GradientOptions& gradient = {});

struct HessianVectorProduct {
  std::vector<Tensor> tangents;  ///< one for each output: its derivative in the direction
  std::vector<Tensor> products;  ///< one for each operand: the gradient's derivative in the direction
};

/// The exact derivative, in a direction, of the outputs and of their gradients: `direction` holds a tensor shaped like
/// each operand. Cotangents are as in value_and_gradient.
[[nodiscard]] HessianVectorProduct hessian_vector_product(std::string_view equation,
                                                          const std::vector<Tensor>& operands,
                                                          const std::vector<Tensor>& direction,
                                                          const EinsumOptions& options = {},
                                                          const std::vector<Tensor>& cotangents = {});
[[nodiscard]] HessianVectorProduct hessian_vector_product(const Plan& plan, std::span<const Tensor> operands,
                                                          std::span<const Tensor> direction,
                                                          const RunOptions& options = {},
                                                          const std::vector<Tensor>& cotangents = {});

}  // namespace plated
