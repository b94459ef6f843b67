// Schedules that answer a question: a forward run, and the sweep that the question needs.
//
// Operands are the graph's factors, the weights of weighted plates, then the question's own; outputs are those of the
// forward run, then the answers.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/answer_axes.hpp"
#include "planner/planner.hpp"
#include "planner/schedule.hpp"

namespace plated::adjoint {

/// The plan of a graph that a sweep can walk backwards.
[[nodiscard]] planner::Schedule forward(const FactorGraph& graph, planner::Options options);

/// Operands: a cotangent for each output. Answers: a gradient for each factor that is `wanted`.
struct GradientQuestion {
  Semiring semiring = Semiring::log;
  bool nonnegative = true;  // the cotangents are
  /// Every gradient is written in a type at least as wide as the arithmetic: others may be summed from it.
  bool reads_answers = true;
  std::vector<bool> wanted;  // [factor]
};
/// The first `outputs` outputs have cotangents; any further ones are not differentiated.
[[nodiscard]] planner::Schedule gradient_schedule(planner::Schedule forward, std::size_t outputs,
                                                  const GradientQuestion& question);

/// Operands: a cotangent for each output, then a direction for each factor. Answers: a tangent for each output, then a
/// product for each factor.
[[nodiscard]] planner::Schedule hessian_schedule(planner::Schedule forward, Semiring semiring);

/// Operand: a cotangent of ones for the total, which is output `total` of the forward run. Answers: the posterior of
/// each variable that has more than one state, ascending, with axes batch, plates, states; then, if asked for, of each
/// factor.
[[nodiscard]] planner::Schedule marginal_schedule(planner::Schedule forward, std::size_t total, bool variables,
                                                  bool factors);
/// The variables that marginal_schedule answers for.
[[nodiscard]] std::vector<DimId> posterior_variables(const FactorGraph& graph);

/// Operand: a cotangent of ones for the total. Answer: the entropy for each batch.
[[nodiscard]] planner::Schedule entropy_schedule(planner::Schedule forward, std::size_t total);

/// Operands: a cotangent of ones, then statistics for each factor that has some. Answer: their expectation.
[[nodiscard]] planner::Schedule expectation_schedule(planner::Schedule forward, std::size_t total,
                                                     const std::vector<bool>& has_statistics);

}  // namespace plated::adjoint
