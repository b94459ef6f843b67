// Posterior marginals and quantities derived from them: entropy, expectations, leave-one-out predictive densities.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plated/einsum.hpp"
#include "plated/plan.hpp"
#include "plated/tensor.hpp"

namespace plated {

/// Axes: batch dims, plates, states, each in declaration order.
struct Marginals {
  Tensor log_partition;                     ///< log Z, one for each batch
  std::map<std::string, Tensor> variables;  ///< by name
  std::vector<Tensor> factors;              ///< if asked for: one for each operand
  std::vector<Tensor> sets;                 ///< in the order asked for
};

/// The posterior of every variable in every plate slice: probabilities that sum to one over its states. Operands are
/// logarithms in the log semiring and weights in the real one. Throws ImpossibleError where Z is zero, and ValueError
/// where Z or an answer is NaN or overflows; so do entropy, expectation and leave_one_out.
///
///   auto posterior = marginals("x,iy,ijxy->", {f, g, h}, {.plates = "ij"});
///   posterior.variables.at("y");  // axes i, y
[[nodiscard]] Marginals marginals(std::string_view equation, Tensors operands, const EinsumOptions& options = {},
                                  const MarginalOptions& wanted = {});
[[nodiscard]] Marginals marginals(const Plan& plan, Tensors operands, const RunOptions& options = {},
                                  const MarginalOptions& wanted = {});
/// The same into the caller's memory: a tensor of the answer that has data is written in place, in any strides and
/// dtype (SizeError unless it has the right shape), and one that has none is allocated, for the next call to write
/// into. Asked again on operands of the same strides and with the same options, it allocates nothing; see
/// docs/performance.md for what does. Throws OptionError for a workspace of another plan.
///
///   Workspace workspace(plan);
///   Marginals posterior;
///   while (more()) marginals_into(posterior, plan, {prior, likelihood}, workspace);
void marginals_into(Marginals& answer, const Plan& plan, Tensors operands, Workspace& workspace,
                    const RunOptions& options = {}, const MarginalOptions& wanted = {});

/// For every variable, slice and state, the score of the best assignment of everything that has that state there.
/// In max_plus (log is read as max_plus), max_product (real likewise) and min_plus.
[[nodiscard]] std::map<std::string, Tensor> max_marginals(std::string_view equation, Tensors operands,
                                                          const EinsumOptions& options = {});
[[nodiscard]] std::map<std::string, Tensor> max_marginals(const Plan& plan, Tensors operands,
                                                          const RunOptions& options = {});
/// The same into the caller's memory; see marginals_into.
void max_marginals_into(std::map<std::string, Tensor>& answer, const Plan& plan, Tensors operands, Workspace& workspace,
                        const RunOptions& options = {});

/// The entropy of the joint posterior of all variables, in nats, one for each batch. Throws ImpossibleError where Z is
/// zero.
[[nodiscard]] Tensor entropy(std::string_view equation, Tensors operands, const EinsumOptions& options = {});
[[nodiscard]] Tensor entropy(const Plan& plan, Tensors operands, const RunOptions& options = {});
/// The same into the caller's memory; see marginals_into.
void entropy_into(Tensor& answer, const Plan& plan, Tensors operands, Workspace& workspace,
                  const RunOptions& options = {});

/// The posterior expectation of additive statistics, one number for each batch: the sum over all factors and slices of
/// statistics[f] at the factor's states. One tensor for each factor, of its operand's shape; a tensor without data
/// stands for zero. Throws ImpossibleError where Z is zero.
[[nodiscard]] Tensor expectation(std::string_view equation, Tensors operands, Tensors statistics,
                                 const EinsumOptions& options = {});
[[nodiscard]] Tensor expectation(const Plan& plan, Tensors operands, Tensors statistics,
                                 const RunOptions& options = {});
/// The same into the caller's memory; see marginals_into.
void expectation_into(Tensor& answer, const Plan& plan, Tensors operands, Tensors statistics, Workspace& workspace,
                      const RunOptions& options = {});

/// For each slice i of a plate, log Z − log Z without slice i (its factors and variables do not exist): for a
/// normalised model log p(slice i | all other slices). Axes: batch dims, the plate. Throws ImpossibleError where the
/// other slices are impossible by themselves.
///
/// Of a chain, the named factors of slice t are left out and all else stays: log p(what they observe in slice t | all
/// other slices). Axes: batch dims, the chain's other plates, the chain; 0 beyond a chain's length. Throws
/// DuplicateNameError where a factor is named twice.
[[nodiscard]] Tensor leave_one_out(std::string_view equation, Tensors operands, std::string_view plate,
                                   const EinsumOptions& options = {}, const std::vector<std::string>& factors = {});
[[nodiscard]] Tensor leave_one_out(const Plan& plan, Tensors operands, std::string_view plate,
                                   const RunOptions& options = {}, const std::vector<std::string>& factors = {});
/// The same into the caller's memory; see marginals_into.
void leave_one_out_into(Tensor& answer, const Plan& plan, Tensors operands, std::string_view plate,
                        Workspace& workspace, const RunOptions& options = {},
                        const std::vector<std::string>& factors = {});

}  // namespace plated
