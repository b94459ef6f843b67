// Plated einsum and log partition functions of libtorch tensors, which autograd differentiates twice.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plated/einsum.hpp"
#include "plated/integer_view.hpp"
#include "plated/model.hpp"
#include "plated/plan.hpp"
#include "plated/tensor.hpp"

namespace plated::torch {

/// Plated einsum of tensors: sums over variables, multiplies over plates.
///
///   at::Tensor log_z = plated::torch::einsum("x,iy,ijxy->", {f, g, h}, {.plates = "ij"});
///   log_z.backward();
///
/// Operands are float32 or float64 tensors of the CPU in any strides; their memory is read in place. In the log and
/// real semirings the result can be differentiated by every operand, twice. Evidence, lengths and weights are not
/// differentiated; what they view must live until the last backward(), which view() and integers() see to. Throws what
/// plated::einsum throws, and ValueError for a tensor of another type or device.
[[nodiscard]] at::Tensor einsum(std::string_view equation, at::TensorList operands, const EinsumOptions& options = {});
/// The same for equations with any number of outputs.
[[nodiscard]] std::vector<at::Tensor> einsum_all(std::string_view equation, at::TensorList operands,
                                                 const EinsumOptions& options = {});
/// The same of a plan, whose factors the operands are.
[[nodiscard]] at::Tensor einsum(const Plan& plan, at::TensorList operands, const RunOptions& options = {});
[[nodiscard]] std::vector<at::Tensor> einsum_all(const Plan& plan, at::TensorList operands,
                                                 const RunOptions& options = {});
/// The same of a graph; the variables that the options have evidence for are observed. Plans of the last few graphs are
/// kept.
[[nodiscard]] at::Tensor einsum(const FactorGraph& graph, at::TensorList operands, const RunOptions& options = {});
/// The same of a model: its own numbers stand for the factors that no tensor is given for, and its evidence and lengths
/// count where the options have no others. Tensors are log factors in the log semiring, whatever the model's space.
/// Throws UnknownNameError for a factor that is not there, and OptionError for a likelihood without a tensor.
///
///   at::Tensor ln_p = plated::torch::log_partition(read_model("asia.bif"), {{"smoke", log_smoke}});
[[nodiscard]] at::Tensor einsum(const Model& model, const std::map<std::string, at::Tensor>& operands = {},
                                const RunOptions& options = {});

/// log Z of log factors, one number for each batch; an equation ends in `->`, or has no arrow at all. Its gradient by a
/// factor is the factor's posterior. Throws OptionError where more than batch dims is kept, or the semiring is another.
[[nodiscard]] at::Tensor log_partition(std::string_view equation, at::TensorList operands,
                                       const EinsumOptions& options = {});
[[nodiscard]] at::Tensor log_partition(const Plan& plan, at::TensorList operands, const RunOptions& options = {});
[[nodiscard]] at::Tensor log_partition(const FactorGraph& graph, at::TensorList operands,
                                       const RunOptions& options = {});
[[nodiscard]] at::Tensor log_partition(const Model& model, const std::map<std::string, at::Tensor>& operands = {},
                                       const RunOptions& options = {});

/// A view of a tensor's memory that keeps the tensor alive; nothing is copied. Throws ValueError for other types than
/// float32 and float64, and for tensors that are not dense arrays of the CPU.
[[nodiscard]] Tensor view(const at::Tensor& tensor);
/// The same of integers, for evidence and lengths: bool and all integer types.
[[nodiscard]] IntegerView integers(const at::Tensor& tensor);
/// A tensor of the memory that an answer of Plated has, which it keeps alive; nothing is copied.
[[nodiscard]] at::Tensor tensor(const Tensor& answer);
/// A tensor of the integers of an answer, which are copied.
[[nodiscard]] at::Tensor tensor(const Integers& answer);

}  // namespace plated::torch
