// The backtrace: visits steps in reverse; each chooses states for the variables that it has summed.
#include "adjoint/backtrace.hpp"

#include <algorithm>
#include <set>

#include "adjoint/backtrace_strategies.hpp"
#include "base/assert.hpp"
#include "base/checked_size.hpp"
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

/// The steps that choose, in reverse: those that choose in blocks come after the others, which do not depend on them.
struct ChoosingSteps {
  ChoosingSteps(const planner::Schedule& schedule, const std::vector<bool>& needed,
                const engine::BoundSchedule& bound) {
    for (std::size_t s = schedule.steps.size(); s-- > 0;) {
      const Step& step = schedule.steps[s];
      if (!needed[s] || summed(step).empty()) continue;
      PLATED_ASSERT(step.is<planner::Contract>());
      (chooses_in_blocks(schedule, step, bound) ? in_blocks : once).push_back(s);
    }
  }

  std::vector<std::size_t> once;
  std::vector<std::size_t> in_blocks;
};

}  // namespace

std::int64_t backtrace_bytes(const planner::Schedule& schedule, const planner::Extents& extents, const Choice& choice,
                             int threads) {
  if (choice.count == 0) return 0;
  const std::vector<bool> needed = steps_towards(schedule, choice.total);
  std::int64_t bytes = 0;
  for (const DimId v : kept_variables(schedule, needed)) {
    std::vector<std::int64_t> factors{choice.count, sizeof(std::uint32_t)};
    for (const DimId d : axes_of(schedule, v)) factors.push_back(extents[d]);
    bytes = base::checked_sum(bytes, base::checked_product(factors));
  }
  std::int64_t workers = 0;
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    if (!needed[s] || summed(schedule.steps[s]).empty()) continue;
    const ChoiceStep step = sizes_of_choice(schedule, schedule.steps[s], extents);
    if (step.slices.size() == 0 || step.states == 0 || step.kept_states == 0) continue;
    workers = std::max(workers, tables_pay(step, choice) ? table_bytes(step, choice, threads)
                                                         : row_by_row_bytes(step, choice, threads));
  }
  return base::checked_sum(bytes, workers);
}

void backtrace(const planner::Schedule& schedule, Semiring semiring, std::span<const Tensor> operands,
               const engine::Workspace& workspace, const Choice& choice, int threads, std::vector<Integers>& assignment,
               const RecallBlocks& recall) {
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
  const engine::BoundSchedule& bound = workspace.bound;
  const ChoosingSteps choosing(schedule, needed, bound);
  const auto read = [&](const std::vector<std::size_t>& which, BlockRange range) {
    std::vector<ChoiceStep> steps;
    for (const std::size_t s : which) {
      for (ChoiceStep& rows : read_choices(schedule, s, semiring, operands, workspace, range)) {
        if (rows.slices.size() > 0 && rows.states > 0) steps.push_back(std::move(rows));
      }
    }
    return steps;
  };
  base::Phases phases;
  const auto choose = [&](const std::vector<ChoiceStep>& steps, double work) {
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
  };
  const auto sum = [&](const std::vector<ChoiceStep>& steps) {
    double work = 0;
    for (const ChoiceStep& rows : steps) work += work_of(rows, choice);
    return work;
  };
  const bool recalls = !bound.recall.read.empty();
  const std::int64_t count = bound.blocks ? bound.blocks->count() : 0;
  const std::int64_t chunk = recalls ? bound.recall.chunk : count;
  const std::vector<ChoiceStep> once = read(choosing.once, {});
  const double work = sum(once) + sum(read(choosing.in_blocks, {0, count}));
  choose(once, work);
  for (std::int64_t first = 0; first < count && !choosing.in_blocks.empty(); first += chunk) {
    const std::int64_t last = std::min(count, first + chunk);
    if (recalls) recall(first, last);
    choose(read(choosing.in_blocks, {first, last}), work);
  }
}

}  // namespace plated::adjoint
