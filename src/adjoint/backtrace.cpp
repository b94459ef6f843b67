// The backtrace: visits steps in reverse; each chooses states for the variables that it has summed.
#include "adjoint/backtrace.hpp"

#include <algorithm>
#include <set>

#include "adjoint/backtrace_strategies.hpp"
#include "base/assert.hpp"
#include "base/watch.hpp"

namespace plated::adjoint {
namespace {

using planner::Step;

/// Variables that some step keeps while it sums others: their states are read again.
std::set<DimId> kept_variables(const planner::Schedule& schedule, const std::vector<bool>& needed) {
  std::set<DimId> kept;
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    if (!needed[s] || summed(step).empty()) continue;
    for (const DimId d : schedule.values[step.output].dims) {
      if (schedule.problem.kind[d] == DimKind::variable) kept.insert(d);
    }
  }
  return kept;
}

/// In visits of a state, about.
double work_of(const ChoiceStep& step, const Choice& choice) {
  constexpr double look_up = 4;
  const double draws = static_cast<double>(choice.count) * static_cast<double>(step.slices.size());
  return draws * (tables_pay(step, choice) ? look_up : static_cast<double>(step.states));
}

}  // namespace

void backtrace(const planner::Schedule& schedule, Semiring semiring, std::span<const Tensor> operands,
               const engine::Workspace& workspace, const Choice& choice, int threads,
               std::vector<Integers>& assignment) {
  PLATED_ASSERT(assignment.size() == schedule.problem.domain.size());
  PLATED_ASSERT(choice.draw ? semiring == Semiring::log : choice.count == 1);
  for (DimId v = 0; v < assignment.size(); ++v) {
    const bool single = schedule.problem.kind[v] == DimKind::variable && schedule.problem.domain[v] == 1;
    if (single) std::fill(assignment[v].values.begin(), assignment[v].values.end(), 0);
  }
  if (choice.count == 0) return;
  ChosenStates states(assignment, choice.count);
  // Other outputs may sum the same variables.
  const std::vector<bool> needed = steps_towards(schedule, choice.total);
  for (const DimId v : kept_variables(schedule, needed)) states.remember(v);
  std::vector<ChoiceStep> steps;
  double work = 0;
  for (std::size_t s = schedule.steps.size(); s-- > 0;) {
    const Step& step = schedule.steps[s];
    if (!needed[s] || summed(step).empty()) continue;
    PLATED_ASSERT(step.is<planner::Contract>());
    ChoiceStep rows = read_choice(schedule, s, semiring, operands, workspace);
    if (rows.slices.size() == 0 || rows.states == 0) continue;
    work += work_of(rows, choice);
    steps.push_back(std::move(rows));
  }
  base::Phases phases;
  for (const ChoiceStep& rows : steps) {
    base::ask_whether_wanted();
    const auto phase = phases.next(work_of(rows, choice) / work);
    if (tables_pay(rows, choice)) {
      draw_from_tables(rows, choice, threads, states);
    } else {
      choose_row_by_row(rows, choice, threads, states);
    }
    base::tell_progress(1);
  }
}

}  // namespace plated::adjoint
