// Walks the steps of a bound schedule.
#include "engine/run.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "engine/bound_scan.hpp"
#include "engine/kept.hpp"
#include "engine/step_runner.hpp"
#include "plated/error.hpp"

namespace plated::engine {
namespace {

void clear_axis(const Tensor& tensor, std::size_t axis, std::int64_t offset, base::Pace& pace) {
  if (axis == tensor.rank()) {
    if (tensor.dtype() == Dtype::float32) {
      static_cast<float*>(tensor.mutable_data())[offset] = 0;
    } else {
      static_cast<double*>(tensor.mutable_data())[offset] = 0;
    }
    return;
  }
  for (std::int64_t k = 0; k < tensor.shape()[axis]; ++k) {
    if (pace.stops(1)) return;
    clear_axis(tensor, axis + 1, offset + k * tensor.strides()[axis], pace);
  }
}

/// Tells which share of a run's operations is done.
class Progress {
 public:
  explicit Progress(double flops) : flops_(flops) {}

  template <class Work>
  void during(double flops, const Work& work) {
    base::ask_whether_wanted();
    const double before = share();
    done_ += flops;
    {
      const base::Part part(before, share());
      work();
    }
    base::tell_progress(share());
  }

 private:
  [[nodiscard]] double share() const { return flops_ > 0 ? std::min(1.0, done_ / flops_) : 0.0; }

  double flops_;
  double done_ = 0;
};

/// Runs the steps of a loop for some blocks after the other; totals come last.
template <class Around>
void run_loop(const StepRunner& runner, const BoundSchedule& bound, const BoundLoop& loop, const Around& around) {
  const std::span<const BoundStep> body(bound.steps.data() + loop.first, loop.last - loop.first);
  const std::int64_t count = loop.blocks.count();
  for (const BoundStep& step : body) runner.begin(step);
  for (std::int64_t done = 0; done < count; done += loop.chunk) {
    const std::int64_t chunk = std::min(loop.chunk, count - done);
    const std::int64_t first = loop.descends ? count - done - chunk : done;
    const std::int64_t last = first + chunk;
    const double share = static_cast<double>(last - first) / static_cast<double>(count);
    for (const BoundStep& step : body) {
      around(share * step.flops, [&] { runner.run_blocks(step, first, last); });
    }
  }
  for (const BoundStep& step : body) runner.deliver(step);
}

/// Runs all steps; around(flops, work) does some of the work.
template <class Around>
void run_steps(const StepRunner& runner, const BoundSchedule& bound, const Around& around) {
  auto loop = bound.loops.begin();
  for (std::size_t s = 0; s < bound.steps.size();) {
    if (loop != bound.loops.end() && loop->first == s) {
      run_loop(runner, bound, *loop, around);
      s = loop->last;
      ++loop;
    } else {
      const BoundStep& step = bound.steps[s++];
      around(step.flops, [&] { runner.run(step); });
    }
  }
}

/// The outputs of a kept run in place of the first ones.
std::span<const Tensor> with_kept(std::span<const Tensor> outputs, Workspace& workspace, const Settings& settings) {
  if (settings.kept == nullptr) return outputs;
  const std::vector<Tensor>& first = settings.kept->outputs();
  workspace.kept_outputs.assign(first.begin(), first.end());
  workspace.kept_outputs.insert(workspace.kept_outputs.end(),
                                outputs.begin() + static_cast<std::ptrdiff_t>(first.size()), outputs.end());
  return workspace.kept_outputs;
}

}  // namespace

void take_memory(Workspace& workspace, int threads) {
  const BoundSchedule& bound = workspace.bound;
  workspace.arena.grow(bound.arena_bytes);
  workspace.task_scratch.grow(static_cast<std::int64_t>(bound.task_scratch_bytes) * threads);
  workspace.shared_scratch.grow(static_cast<std::int64_t>(bound.shared_scratch_bytes));
  for (const auto& scan : bound.scans) scan->take_memory(threads);
}

void check_limit(std::int64_t needed, std::int64_t limit) {
  if (limit == 0 || needed <= limit) return;
  throw MemoryLimitError("this run needs " + std::to_string(needed) + " bytes, and the limit is " +
                             std::to_string(limit) + "; nothing was allocated",
                         needed, limit);
}

std::int64_t Workspace::bytes() const {
  std::int64_t sum = arena.bytes() + task_scratch.bytes() + shared_scratch.bytes();
  for (const auto& scan : bound.scans) sum += scan->held_bytes();
  return sum;
}

bool Workspace::knows_extents_of(std::span<const Tensor> run_operands) const {
  const auto has_data = [](const Tensor& tensor) { return tensor.data() != nullptr || tensor.elements() == 0; };
  return extents_hold && signature.has_operands(run_operands) &&
         std::all_of(run_operands.begin(), run_operands.end(), has_data);
}

bool Workspace::has_run_on(std::span<const Tensor> run_operands, std::span<const Tensor> run_outputs) const {
  const auto lies_at = [](const Tensor& tensor, const void* memory) { return tensor.data() == memory; };
  return std::equal(run_operands.begin(), run_operands.end(), operands.begin(), operands.end(), lies_at) &&
         std::equal(run_outputs.begin(), run_outputs.end(), outputs.begin(), outputs.end(), lies_at) &&
         signature.has_operands(run_operands) && signature.has_outputs(run_outputs);
}

/// Binds anew only where sizes, strides, types or the semiring differ from the last run's.
void prepare(const planner::Schedule& schedule, std::span<const Tensor> outputs, std::span<const Tensor> operands,
             Workspace& workspace, const Settings& settings) {
  const planner::Extents& extents = settings.extents != nullptr ? *settings.extents : schedule.extents;
  outputs = with_kept(outputs, workspace, settings);
  // What the limit leaves for the workspace decides about loops, and so do the threads' scratches.
  const bool limited = settings.memory_limit > 0;
  const std::int64_t limit = limited ? std::max<std::int64_t>(1, settings.memory_limit - settings.output_bytes) : 0;
  const Signature::Terms terms{.semiring = settings.semiring,
                               .kept = settings.kept != nullptr,
                               .recalls = settings.recalls,
                               .limit = limit,
                               .threads = limited ? settings.threads : 0};
  Signature& signature = workspace.signature;
  const bool fits = signature.has_terms(terms, extents) && signature.has_outputs(outputs) &&
                    (settings.same_operands || signature.has_operands(operands));
  if (!fits) {
    signature.clear();
    workspace.extents_hold = false;
    workspace.prepared_threads = 0;
    workspace.bound = bind(schedule, extents, outputs, operands,
                           {.semiring = settings.semiring,
                            .kept = settings.kept != nullptr ? &settings.kept->workspace().bound : nullptr,
                            .updatable = settings.updatable,
                            .recalls = settings.recalls,
                            .limit = limit,
                            .threads = settings.threads});
    signature.assign(terms, extents, operands, outputs);
  }
  if (workspace.prepared_threads == settings.threads) return;
  const BoundSchedule& bound = workspace.bound;
  const std::int64_t needed = base::checked_sum(bound.bytes(settings.threads), settings.output_bytes);
  check_limit(needed, settings.memory_limit);
  try {
    take_memory(workspace, settings.threads);
  } catch (const std::bad_alloc&) {
    throw MemoryLimitError(
        "this run needs " + std::to_string(needed) + " bytes of working memory, which the machine refused", needed,
        settings.memory_limit);
  }
  workspace.prepared_threads = settings.threads;
}

void clear(const Tensor& tensor) {
  base::Pace pace;
  clear_axis(tensor, 0, 0, pace);
  base::check_wanted();
}

void run(const planner::Schedule& schedule, std::span<const Tensor> outputs, std::span<const Tensor> operands,
         Workspace& workspace, const Settings& settings) {
  prepare(schedule, outputs, operands, workspace, settings);
  outputs = with_kept(outputs, workspace, settings);
  workspace.operands.clear();
  for (const Tensor& operand : operands) workspace.operands.push_back(operand.data());
  workspace.outputs.clear();
  for (const Tensor& output : outputs) workspace.outputs.push_back(output.mutable_data());
  const BoundSchedule& bound = workspace.bound;
  for (std::size_t f = 0; settings.unseen != nullptr && f < bound.looked_at.size(); ++f) {
    if (bound.looked_at[f] || (settings.outputs_are_searched && bound.shown[f])) continue;
    if (settings.unseen->most(f) != Unseen::searched) settings.unseen->search(f);
  }
  if (settings.finite != nullptr) settings.finite->assign(outputs.size(), false);
  const StepRunner runner(workspace, workspace.outputs, workspace.operands, settings.threads,
                          settings.kept != nullptr ? settings.kept->workspace().arena.get() : nullptr,
                          {.unseen = settings.unseen, .finite = settings.finite});
  for (const std::size_t o : workspace.bound.cleared) clear(outputs[o]);
  if (base::detail::watched().watch == nullptr) {
    return run_steps(runner, workspace.bound, [](double, const auto& work) { work(); });
  }
  Progress progress(workspace.bound.flops);
  run_steps(runner, workspace.bound, [&](double flops, const auto& work) { progress.during(flops, work); });
  base::tell_progress(1);
}

void recall(Workspace& workspace, std::int64_t first, std::int64_t last, int threads) {
  const StepRunner runner(workspace, workspace.outputs, workspace.operands, threads);
  for (const BoundStep& step : workspace.bound.recall.steps) {
    base::ask_whether_wanted();
    runner.run_blocks(step, first, last);
  }
}

void run_prepared(Workspace& workspace, std::span<void* const> outputs, std::span<const void* const> operands,
                  int threads) {
  const StepRunner runner(workspace, outputs, operands, threads);
  run_steps(runner, workspace.bound, [](double, const auto& work) { work(); });
}

}  // namespace plated::engine
