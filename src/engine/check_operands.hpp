// Refuses operands and outputs that do not fit the graph, before anything is computed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/slice.hpp"
#include "planner/extents.hpp"
#include "plated/factor_graph.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::engine {

/// A shape as written in errors, "(2, 3)".
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& shape);

/// The sizes of all dims in a run: those of the operands, which must agree; of dims that no operand has those given by
/// name, else the graph's. Domains of variables must be the graph's. Throws OperandCountError, NullDataError,
/// RankError, SizeError and UnknownNameError, naming the factor and the dim.
/// Unless `with_data`, operands need none.
void read_extents(const FactorGraph& graph, std::span<const Tensor> operands,
                  const std::map<std::string, std::int64_t>& sizes, planner::Extents& extents, bool with_data = true);
/// The same sizes from names alone.
[[nodiscard]] planner::Extents named_extents(const FactorGraph& graph,
                                             const std::map<std::string, std::int64_t>& sizes);
/// Throws the same for the tensors that a run writes into, which must also be writable and overlap neither themselves,
/// nor each other, nor an operand (OverlapError).
void check_outputs(const FactorGraph& graph, const planner::Extents& extents, std::span<const Tensor> outputs,
                   std::span<const Tensor> operands);

/// The same for places of gradients: those of the wanted operands, in order.
void check_gradients(const FactorGraph& graph, const planner::Extents& extents, const std::vector<bool>& wanted,
                     std::span<const Tensor> gradients, std::span<const Tensor> operands);
/// Throws SizeError unless a place for an answer has that shape, ShapeError where it is read-only, and OverlapError
/// where it may overlap itself. `what` and `name` begin the message.
void check_place(const char* what, const std::string& name, const Tensor& place,
                 const std::vector<std::int64_t>& shape);
/// Throws OverlapError where such places overlap each other or what is read.
void check_apart(std::span<const Tensor> places, std::span<const Tensor> read);
/// Throws SizeError, NullDataError and, for an entry that is not finite, ValueError, beginning with `what`.
void check_like(const std::string& what, const Tensor& tensor, const std::vector<std::int64_t>& shape);

/// How messages call an operand: by its number and, where it is a factor's, its name.
[[nodiscard]] std::string operand_name(const FactorGraph& graph, std::size_t operand);

/// Throws the ValueError for an operand with entries that the semiring does not admit; it names the first one's index.
[[noreturn]] void refuse_values(const FactorGraph& graph, std::size_t operand, const Tensor& tensor, Semiring semiring);

/// Throws ValueError naming the row of a factor, declared a distribution, that does not sum to one. Rows at which
/// `absent`, float64 and of the operand's shape, is not 0 may hold anything; without data it is 0 everywhere. Only rows
/// in all of the slices `within` are looked at.
void check_distribution(const FactorGraph& graph, std::size_t operand, const Tensor& tensor, Semiring semiring,
                        const Tensor& absent, int threads, std::span<const Slice> within = {});

}  // namespace plated::engine
