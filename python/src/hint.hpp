// Warns where operands look like probabilities in a semiring of logarithms, or like logarithms in one of weights.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <string>
#include <string_view>

#include "plated/factor_graph.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::python {

/// Whether operands of this equation have not been looked at yet in this semiring; they have been from now on. False
/// for semirings whose numbers look like anything. Needs the interpreter lock.
[[nodiscard]] bool is_first_look(std::string_view equation, Semiring semiring);

/// Gives a plated.SemiringWarning for the first operand whose numbers look wrong. Looks at some thousand entries of
/// each, so that a large array costs no more than a small one. Throws what a filter makes of the warning.
void hint_at_semiring(const FactorGraph& graph, std::span<const Tensor> operands, Semiring semiring);
/// The same of the numbers of a model, which are logarithms or weights.
void hint_at_space(const FactorGraph& graph, std::span<const Tensor> numbers, bool logarithms);

}  // namespace plated::python
