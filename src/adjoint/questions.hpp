// Schedules that answer a question: the plan, and the sweep that the question needs.
//
// Operands are the graph's factors, then the question's own; outputs are the graph's, then the answers.
#pragma once

#include <string>
#include <vector>

#include "planner/planner.hpp"
#include "planner/schedule.hpp"

namespace plated::adjoint {

/// Operands: a cotangent for each output. Answers: a gradient for each factor that is `wanted`.
struct GradientQuestion {
  Semiring semiring = Semiring::log;
  bool nonnegative = true;  // the cotangents are
  /// Every gradient is written in a type at least as wide as the arithmetic: others may be summed from it.
  bool reads_answers = true;
  std::vector<bool> wanted;  // [factor]
};
[[nodiscard]] planner::Schedule gradient_schedule(const FactorGraph& graph, const planner::Options& options,
                                                  const GradientQuestion& question);

/// Operands: a cotangent for each output, then a direction for each factor. Answers: a tangent for each output, then a
/// product for each factor.
[[nodiscard]] planner::Schedule hessian_schedule(const FactorGraph& graph, const planner::Options& options,
                                                 Semiring semiring);

/// The graph asked for its total alone: one number for each batch.
[[nodiscard]] FactorGraph total_graph(const FactorGraph& graph);

/// Operand: a cotangent of ones for the total. Answers: the posterior of each variable that has more than one state,
/// ascending, with axes batch, plates, states; then, if asked for, of each factor.
[[nodiscard]] planner::Schedule marginal_schedule(const FactorGraph& graph, planner::Options options, bool variables,
                                                  bool factors);
/// The variables that marginal_schedule answers for.
[[nodiscard]] std::vector<DimId> posterior_variables(const FactorGraph& graph);
/// The axes of an answer named by a variable: batch dims, its plates, its chains and, unless `states` is false, its
/// states.
class AnswerAxes {
 public:
  explicit AnswerAxes(const FactorGraph& graph);
  [[nodiscard]] std::vector<DimId> operator()(DimId variable, bool states = true) const;

 private:
  std::vector<DimId> batch_;
  std::vector<std::vector<DimId>> plates_;  // [variable]
};
/// The batch dims of a graph.
[[nodiscard]] std::vector<DimId> batch_axes(const FactorGraph& graph);

/// Operand: a cotangent of ones for the total. Answer: the entropy for each batch.
[[nodiscard]] planner::Schedule entropy_schedule(const FactorGraph& graph, const planner::Options& options);

/// Operands: a cotangent of ones, then statistics for each factor that has some. Answer: their expectation.
[[nodiscard]] planner::Schedule expectation_schedule(const FactorGraph& graph, const planner::Options& options,
                                                     const std::vector<bool>& has_statistics);

/// Answer: the total without slice i, for each slice i of a plate that is not fixed; axes batch, plate.
[[nodiscard]] planner::Schedule predictive_schedule(const FactorGraph& graph, const planner::Options& options,
                                                    DimId plate);

}  // namespace plated::adjoint
