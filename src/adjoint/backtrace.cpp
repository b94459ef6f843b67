// The backtrace: visits steps in reverse; each chooses states for the variables that it has summed.
#include "adjoint/backtrace.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "adjoint/backtrace_axes.hpp"
#include "adjoint/backtrace_scan.hpp"
#include "adjoint/backtrace_strategies.hpp"
#include "base/assert.hpp"
#include "base/checked_size.hpp"
#include "base/watch.hpp"

namespace plated::adjoint {
namespace {

using planner::Scan;
using planner::Schedule;
using planner::Step;
using planner::ValueId;

/// The steps that an output is computed from; those that compute a scan's slices once more are not among them, and
/// other outputs may sum the same variables.
std::vector<bool> steps_before(const Schedule& schedule, std::size_t output) {
  std::vector<bool> needed(schedule.steps.size(), false);
  std::vector<bool> read(schedule.values.size(), false);
  for (std::size_t s = schedule.steps.size(); s-- > 0;) {
    const planner::Value& value = schedule.values[schedule.steps[s].output];
    needed[s] = read[schedule.steps[s].output] || (value.kind == planner::Value::Kind::output && value.index == output);
    for (const ValueId v : needed[s] ? schedule.steps[s].inputs : std::vector<ValueId>{}) read[v] = true;
  }
  return needed;
}

void add_kept(const Schedule& schedule, const Step& step, std::set<DimId>& kept) {
  if (const auto* scan = step.as<Scan>()) {
    for (const Step& inner : scan->body->steps) add_kept(*scan->body, inner, kept);
    for (const std::vector<DimId>& states : {scan->before, scan->after, scan->start, ends_of(schedule, step)}) {
      kept.insert(states.begin(), states.end());
    }
  }
  if (summed(step).empty()) return;
  for (const DimId d : schedule.values[step.output].dims) {
    if (schedule.problem.kind[d] == DimKind::variable) kept.insert(d);
  }
}

/// Variables that some step keeps while it sums others: their states are read again.
std::set<DimId> kept_variables(const Schedule& schedule, const std::vector<bool>& needed) {
  std::set<DimId> kept;
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    if (needed[s]) add_kept(schedule, schedule.steps[s], kept);
  }
  return kept;
}

/// The steps that choose, in reverse: those that choose in blocks come after the others, which do not depend on them.
/// Where there are scans, nothing is in blocks.
struct ChoosingSteps {
  ChoosingSteps(const ChoiceScope& scope, const std::vector<bool>& needed, const engine::BoundSchedule& bound) {
    for (std::size_t s = scope.schedule.steps.size(); s-- > 0;) {
      const Step& step = scope.schedule.steps[s];
      if (!needed[s] || (summed(step).empty() && !step.is<Scan>())) continue;
      PLATED_ASSERT(step.is<planner::Contract>() || (step.is<Scan>() && !bound.blocks));
      (!step.is<Scan>() && chooses_in_blocks(scope, step, bound) ? in_blocks : once).push_back(s);
    }
  }

  std::vector<std::size_t> once;
  std::vector<std::size_t> in_blocks;
};

/// A step that sums, or a scan.
struct Visit {
  std::unique_ptr<ChoiceStep> step;
  std::unique_ptr<ScanTrace> scan;
  double work = 0;
};

}  // namespace

std::int64_t backtrace_bytes(const Schedule& schedule, const planner::Extents& extents, const Choice& choice,
                             int threads) {
  if (choice.count == 0) return 0;
  const std::vector<bool> needed = steps_before(schedule, choice.total);
  std::int64_t bytes = 0;
  for (const DimId v : kept_variables(schedule, needed)) {
    const bool is_end = v >= schedule.problem.domain.size();  // which has no other place
    const std::int64_t each = (is_end ? sizeof(std::int64_t) : 0) + sizeof(std::uint32_t);
    std::vector<std::int64_t> factors{choice.count, each};
    for (const DimId d : assignment_axes(schedule.problem, v)) factors.push_back(extents[d]);
    bytes = base::checked_sum(bytes, base::checked_product(factors));
  }
  const ChoiceScope scope(schedule);
  std::int64_t workers = 0;
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    if (!needed[s]) continue;
    if (step.is<Scan>()) bytes = base::checked_sum(bytes, trace_bytes(schedule, step, extents, choice, threads));
    if (summed(step).empty()) continue;
    workers = std::max(workers, chooser_bytes(sizes_of_choice(scope, step, extents), choice, threads));
  }
  return base::checked_sum(bytes, workers);
}

void backtrace(const Schedule& schedule, Semiring semiring, std::span<const Tensor> operands,
               const engine::Workspace& workspace, const Choice& choice, int threads, std::vector<Integers>& assignment,
               const RecallBlocks& recall) {
  const planner::Problem& problem = schedule.problem;
  const std::size_t dims = problem.domain.size();
  PLATED_ASSERT(assignment.size() == dims);
  PLATED_ASSERT(choice.draw ? semiring == Semiring::log : choice.count == 1);
  for (DimId v = 0; v < dims; ++v) {
    const bool single = problem.kind[v] == DimKind::variable && problem.domain[v] == 1;
    if (single) std::fill(assignment[v].values.begin(), assignment[v].values.end(), 0);
  }
  if (choice.count == 0) return;
  const engine::BoundSchedule& bound = workspace.bound;
  ChoiceSource source{
      .scope = ChoiceScope(schedule), .bound = bound, .semiring = semiring, .arena = workspace.arena.get()};
  for (const Tensor& operand : operands) source.operands.push_back(operand.data());
  const std::vector<bool> needed = steps_before(schedule, choice.total);
  const std::set<DimId> kept = kept_variables(schedule, needed);
  assignment.resize(2 * dims);  // with room for end_names
  for (auto v = kept.lower_bound(static_cast<DimId>(dims)); v != kept.end(); ++v) {
    const std::int64_t slices = planner::elements(bound.extents, assignment_axes(problem, *v));
    base::watched_resize(assignment[*v].values, static_cast<std::size_t>(base::checked_product(slices, choice.count)));
  }
  ChosenStates states(assignment, choice.count);
  for (const DimId v : kept) states.remember(v);
  const ChoosingSteps choosing(source.scope, needed, bound);
  const auto read = [&](const std::vector<std::size_t>& which, BlockRange range) {
    std::vector<Visit> visits;
    for (const std::size_t s : which) {
      if (schedule.steps[s].is<Scan>()) {
        auto scan = std::make_unique<ScanTrace>(source, s, operands, choice, threads, states);
        const double work = scan->work();
        visits.push_back({.step = {}, .scan = std::move(scan), .work = work});
        continue;
      }
      for (ChoiceStep& rows : read_choices(source, s, range)) {
        if (rows.slices.size() == 0 || rows.states == 0) continue;
        const double work = work_of(rows, choice);
        visits.push_back({.step = std::make_unique<ChoiceStep>(std::move(rows)), .scan = {}, .work = work});
      }
    }
    return visits;
  };
  base::Phases phases;
  const auto choose = [&](const std::vector<Visit>& visits, double work) {
    for (const Visit& visit : visits) {
      base::ask_whether_wanted();
      const auto phase = phases.next(work > 0 ? visit.work / work : 0.0);
      if (visit.scan) {
        visit.scan->run();
      } else {
        chooser(*visit.step, choice, threads, states)->run();
      }
      base::tell_progress(1);
    }
  };
  const auto sum = [&](const std::vector<Visit>& visits) {
    double work = 0;
    for (const Visit& visit : visits) work += visit.work;
    return work;
  };
  const bool recalls = !bound.recall.read.empty();
  const std::int64_t count = bound.blocks ? bound.blocks->count() : 0;
  const std::int64_t chunk = recalls ? bound.recall.chunk : count;
  const std::vector<Visit> once = read(choosing.once, {});
  const double work = sum(once) + sum(read(choosing.in_blocks, {0, count}));
  choose(once, work);
  for (std::int64_t first = 0; first < count && !choosing.in_blocks.empty(); first += chunk) {
    const std::int64_t last = std::min(count, first + chunk);
    if (recalls) recall(first, last);
    choose(read(choosing.in_blocks, {first, last}), work);
  }
  assignment.resize(dims);
}

}  // namespace plated::adjoint
