// Refuses operands and outputs that do not fit the graph, before anything is computed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plated/factor_graph.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// A shape as written in errors, "(2, 3)".
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& shape);

/// Throws OperandCountError, NullDataError, RankError or SizeError, naming the factor and the dim.
void check_shapes(const FactorGraph& graph, std::span<const Tensor> operands);
/// The same for the tensors that a run writes into, which must also be writable and overlap neither themselves, nor
/// each other, nor an operand (OverlapError).
void check_outputs(const FactorGraph& graph, std::span<const Tensor> outputs, std::span<const Tensor> operands);

/// The same for places of gradients: those of the wanted operands, in order.
void check_gradients(const FactorGraph& graph, const std::vector<bool>& wanted, std::span<const Tensor> gradients,
                     std::span<const Tensor> operands);
/// Throws SizeError, NullDataError and, for an entry that is not finite, ValueError, beginning with `what`.
void check_like(const std::string& what, const Tensor& tensor, const std::vector<std::int64_t>& shape);

/// Throws ValueError naming the operand and the index of an entry that the semiring does not admit, or of a row of a
/// conditional factor that does not sum to one (real and log semirings). Operands of more elements than `most` pass.
void check_values(const FactorGraph& graph, std::span<const Tensor> operands, Semiring semiring, std::int64_t most);

}  // namespace plated::engine
