// The backtrace: visits steps in reverse; each chooses states for the variables that it has summed.
#include "adjoint/backtrace.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "adjoint/backtrace_axes.hpp"
#include "adjoint/backtrace_order.hpp"
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

}  // namespace

/// Visits phases. A caller's callback computes values of blocks again where they are not stored.
class ChoiceVisitor {
 public:
  /// What `keeps` is made once for all visits of a step.
  ChoiceVisitor(const ChoiceSource& source, std::span<const Tensor> operands, const Choice& choice, int threads,
                ChosenStates& states, std::vector<ChoicePhase> phases, bool keeps)
      : source_(source),
        choice_(choice),
        threads_(threads),
        states_(states),
        visited_(std::move(phases)),
        keeps_(keeps && source.bound.recall.read.empty()) {
    for (const ChoicePhase& phase : visited_) {
      for (const std::size_t s : phase.steps) {
        if (is_scan(s)) {
          scans_[s] = std::make_unique<ScanTrace>(source_, s, operands, choice_, threads_, states_);
        } else if (keeps_) {
          for (ChoiceStep& rows : read_choices(source_, s, all())) {
            auto kept = std::make_unique<KeptChoice>(KeptChoice{std::move(rows), nullptr});
            if (is_empty(kept->step)) continue;
            kept->chooser = chooser(kept->step, choice_, threads_, states_);
            kept_[s].push_back(std::move(kept));
          }
        }
      }
    }
  }

  void run(const RecallBlocks& recall) {
    base::Phases phases;
    phases_ = &phases;
    total_ = 0;
    const bool watched = base::detail::watched().watch != nullptr;
    for (const ChoicePhase& phase : visited_) {
      for (const std::size_t s : phase.steps) {
        if (watched) total_ += work(s);
      }
    }
    for (const ChoicePhase& phase : visited_) {
      if (phase.in_blocks) {
        visit_blocks(phase, recall);
      } else {
        for (const std::size_t s : phase.steps) visit(s);
      }
    }
  }

 private:
  [[nodiscard]] bool is_scan(std::size_t s) const { return source_.scope.schedule.steps[s].is<Scan>(); }
  /// A slice of weight 0 is possible even where a variable has no states.
  [[nodiscard]] static bool is_empty(const ChoiceStep& rows) {
    const bool has_states = rows.states > 0 && !std::count(rows.kept_extent.begin(), rows.kept_extent.end(), 0);
    return rows.slices.size() == 0 || !has_states;
  }
  [[nodiscard]] BlockRange all() const { return {0, source_.bound.blocks ? source_.bound.blocks->count() : 0}; }

  double work(std::size_t s) const {
    if (is_scan(s)) return scans_.at(s)->work();
    double sum = 0;
    for (const ChoiceStep& rows : read_choices(source_, s, all())) sum += work_of(rows, choice_);
    return sum;
  }

  template <class Work>
  void during(double share, const Work& work) {
    base::ask_whether_wanted();
    const auto phase = phases_->next(total_ > 0 ? share / total_ : 0.0);
    work();
    base::tell_progress(1);
  }

  void choose(std::size_t s, BlockRange range) {
    if (keeps_) {
      const auto kept = kept_.find(s);
      if (kept == kept_.end()) return;
      for (const auto& one : kept->second) during(work_of(one->step, choice_), [&] { one->chooser->run(); });
      return;
    }
    for (const ChoiceStep& rows : read_choices(source_, s, range)) {
      if (is_empty(rows)) continue;
      during(work_of(rows, choice_), [&] { chooser(rows, choice_, threads_, states_)->run(); });
    }
  }

  void visit(std::size_t s) {
    if (!is_scan(s)) return choose(s, all());
    ScanTrace& scan = *scans_.at(s);
    during(scan.work(), [&] { scan.run(); });
  }

  void visit_blocks(const ChoicePhase& phase, const RecallBlocks& recall) {
    const engine::Blocks& blocks = *source_.bound.blocks;
    const bool recalls = !source_.bound.recall.read.empty();
    const std::int64_t count = blocks.count();
    const std::int64_t chunk = recalls ? source_.bound.recall.chunk : count;
    for (const std::size_t s : phase.steps) {
      if (is_scan(s)) scans_.at(s)->begin();
    }
    for (std::int64_t done = 0; done < count; done += chunk) {
      const std::int64_t few = std::min(chunk, count - done);
      const std::int64_t first = phase.descends ? count - done - few : done;
      if (recalls) recall(first, first + few);
      for (const std::size_t s : phase.steps) {
        if (!is_scan(s)) {
          choose(s, {first, first + few});
          continue;
        }
        const std::int64_t slice = first * blocks.size;
        ScanTrace& scan = *scans_.at(s);
        during(scan.work() * static_cast<double>(few) / static_cast<double>(count), [&] {
          scan.walk({.first = slice,
                     .last = std::min(blocks.extent, slice + few * blocks.size),
                     .origin = recalls ? slice : 0});
        });
      }
    }
    for (const std::size_t s : phase.steps) {
      if (is_scan(s)) scans_.at(s)->finish();
    }
  }

  const ChoiceSource& source_;
  const Choice& choice_;
  int threads_;
  ChosenStates& states_;
  std::vector<ChoicePhase> visited_;
  bool keeps_;
  std::map<std::size_t, std::unique_ptr<ScanTrace>> scans_;
  std::map<std::size_t, std::vector<std::unique_ptr<KeptChoice>>> kept_;
  double total_ = 0;
  base::Phases* phases_ = nullptr;  // of a run
};

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

struct Backtrace::Impl {
  Impl(const Schedule& traced, Semiring semiring, std::span<const Tensor> operands, const engine::Workspace& workspace,
       const Choice& how, int threads, std::vector<Integers>& answer, bool keeps)
      : schedule(traced),
        choice(how),
        assignment(answer),
        source{.scope = ChoiceScope(schedule),
               .bound = workspace.bound,
               .semiring = semiring,
               .operands = addresses(operands),
               .arena = workspace.arena.get()},
        needed(steps_before(schedule, choice.total)),
        kept(kept_variables(schedule, needed)) {
    PLATED_ASSERT(assignment.size() >= schedule.problem.domain.size());
    PLATED_ASSERT(choice.draw ? semiring == Semiring::log : choice.count == 1);
    if (choice.count == 0) return;
    give_room();
    states.emplace(assignment, choice.count);
    for (const DimId v : kept) states->remember(v);
    visitor.emplace(source, operands, choice, threads, *states, choice_phases(source.scope, needed, workspace.bound),
                    keeps);
  }

  static std::vector<const void*> addresses(std::span<const Tensor> operands) {
    std::vector<const void*> list;
    for (const Tensor& operand : operands) list.push_back(operand.data());
    return list;
  }

  /// For end_names.
  void give_room() {
    const std::size_t dims = schedule.problem.domain.size();
    assignment.resize(2 * dims);
    for (auto v = kept.lower_bound(static_cast<DimId>(dims)); v != kept.end(); ++v) {
      const std::int64_t slices = planner::elements(source.bound.extents, assignment_axes(schedule.problem, *v));
      base::watched_resize(assignment[*v].values,
                           static_cast<std::size_t>(base::checked_product(slices, choice.count)));
    }
  }

  void run(const RecallBlocks& recall) {
    const planner::Problem& problem = schedule.problem;
    for (DimId v = 0; v < problem.domain.size(); ++v) {
      const bool single = problem.kind[v] == DimKind::variable && problem.domain[v] == 1;
      if (single) std::fill(assignment[v].values.begin(), assignment[v].values.end(), 0);
    }
    if (visitor) visitor->run(recall);
  }

  const Schedule& schedule;
  const Choice& choice;
  std::vector<Integers>& assignment;
  ChoiceSource source;
  std::vector<bool> needed;
  std::set<DimId> kept;
  std::optional<ChosenStates> states;
  std::optional<ChoiceVisitor> visitor;
};

Backtrace::Backtrace(const Schedule& schedule, Semiring semiring, std::span<const Tensor> operands,
                     const engine::Workspace& workspace, const Choice& choice, int threads,
                     std::vector<Integers>& assignment)
    : impl_(std::make_unique<Impl>(schedule, semiring, operands, workspace, choice, threads, assignment, true)) {}
Backtrace::~Backtrace() = default;
void Backtrace::run(const RecallBlocks& recall) { impl_->run(recall); }

void backtrace(const Schedule& schedule, Semiring semiring, std::span<const Tensor> operands,
               const engine::Workspace& workspace, const Choice& choice, int threads, std::vector<Integers>& assignment,
               const RecallBlocks& recall) {
  Backtrace::Impl(schedule, semiring, operands, workspace, choice, threads, assignment, false).run(recall);
  assignment.resize(schedule.problem.domain.size());
}

}  // namespace plated::adjoint
