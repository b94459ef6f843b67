// Assignments of all variables of a graph with chains: the best path, or exact joint samples.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "adjoint/backtrace.hpp"
#include "chain/program.hpp"
#include "plated/integers.hpp"

namespace plated::chain {

/// Fixes every variable; returns the total, for each batch. The semiring is max_plus, max_product or min_plus, or log
/// to draw.
///
/// `assignment` is by DimId of the program's graph. The caller has shaped those of its variables: samples (only if they
/// are drawn), then the axes of graph::AnswerAxes without states. Slices beyond a chain's length become −1.
///
/// `check` is shown the total before anything is chosen, and throws where it is the semiring's zero.
Tensor decode(const Program& program, std::span<const Tensor> operands, const adjoint::Choice& choice, const Call& call,
              const std::function<void(const Tensor& total)>& check, std::vector<Integers>& assignment);

}  // namespace plated::chain
