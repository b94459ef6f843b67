// Walks the steps of a bound schedule.
#include "engine/run.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "base/aligned_memory.hpp"
#include "base/checked_size.hpp"
#include "base/overloaded.hpp"
#include "base/watch.hpp"
#include "engine/thread_pool.hpp"
#include "plated/error.hpp"

namespace plated::engine {
namespace {

// Of a task without a shape of its own; fixed, so that no bits depend on threads.
constexpr std::int64_t elements_per_task = 65536;

std::int64_t rounded(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + base::cache_line - 1) / base::cache_line * base::cache_line);
}

void grow(Workspace::Memory& memory, std::int64_t& held, std::int64_t bytes) {
  if (bytes <= held) return;
  memory.reset();
  held = 0;
  memory.reset(base::allocate_aligned(static_cast<std::size_t>(bytes)));
  held = bytes;
}

void describe(std::vector<std::int64_t>& signature, std::span<const Tensor> tensors) {
  for (const Tensor& t : tensors) {
    signature.push_back(static_cast<std::int64_t>(t.dtype()));
    signature.insert(signature.end(), t.strides().begin(), t.strides().end());
  }
}

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

class Runner {
 public:
  Runner(std::span<void* const> outputs, std::span<const void* const> operands, Workspace& workspace, int threads)
      : outputs_(outputs), operands_(operands), workspace_(workspace), threads_(threads) {}

  void run(const BoundStep& step) {
    workspace_.inputs.clear();
    for (const Place& place : step.inputs) workspace_.inputs.push_back(read(place));
    std::visit(base::Overloaded{[&](const kernels::Contraction& kernel) { run_tasks(kernel, write(step.output)); },
                                [&](const kernels::WeightedSum& kernel) { run_tasks(kernel, write(step.output)); },
                                [&](const LeaveOneOut& others) { leave_one_out(step, others); },
                                [&](const kernels::LogMassShape& shape) { log_mass(step, shape); }},
               step.kernel);
  }

 private:
  template <class Kernel>
  void run_tasks(const Kernel& kernel, void* output) {
    const std::int64_t scratch = rounded(workspace_.bound.task_scratch_bytes);
    auto task = [&](std::int64_t t, int worker) {
      kernel.run_task(t, workspace_.inputs, output, workspace_.task_scratch.get() + scratch * worker,
                      workspace_.shared_scratch.get());
    };
    parallel_for(kernel.tasks(), threads_, TaskRef(task));
    kernel.finish(output, workspace_.shared_scratch.get());
  }

  void leave_one_out(const BoundStep& step, const LeaveOneOut& others) {
    const auto input = [&](std::size_t k) {
      return k < step.inputs.size() ? static_cast<const double*>(workspace_.inputs[k]) : nullptr;
    };
    const std::int64_t scratch = rounded(workspace_.bound.task_scratch_bytes);
    auto* output = static_cast<double*>(write(step.output));
    const std::int64_t grain = std::max<std::int64_t>(1, elements_per_task / std::max<std::int64_t>(1, others.slices));
    auto task = [&](std::int64_t t, int worker) {
      const std::int64_t first = t * grain;
      const std::int64_t last = std::min(others.kept, first + grain);
      if (step.inputs.size() == 1) return kernels::leave_one_out(others.shape, input(0), output, first, last);
      kernels::leave_one_out_derivative(others.shape, input(0), input(1), input(2), output,
                                        reinterpret_cast<double*>(workspace_.task_scratch.get() + scratch * worker),
                                        first, last);
    };
    parallel_for((others.kept + grain - 1) / grain, threads_, TaskRef(task));
  }

  void log_mass(const BoundStep& step, const kernels::LogMassShape& shape) {
    const auto* mass = static_cast<const double*>(workspace_.inputs[0]);
    const void* normaliser = step.inputs.size() > 1 ? workspace_.inputs[1] : nullptr;
    void* output = write(step.output);
    const std::int64_t elements = shape.elements();
    auto task = [&](std::int64_t t, int) {
      const std::int64_t first = t * elements_per_task;
      kernels::log_mass(shape, mass, normaliser, output, first, std::min(elements, first + elements_per_task));
    };
    parallel_for((elements + elements_per_task - 1) / elements_per_task, threads_, TaskRef(task));
  }

  const void* read(const Place& place) const {
    if (place.kind == planner::Value::Kind::operand) return operands_[place.index];
    if (place.kind == planner::Value::Kind::output) return outputs_[place.index];
    return workspace_.arena.get() + place.offset;
  }
  void* write(const Place& place) const {
    if (place.kind == planner::Value::Kind::output) return outputs_[place.index];
    return workspace_.arena.get() + place.offset;
  }

  std::span<void* const> outputs_;
  std::span<const void* const> operands_;
  Workspace& workspace_;
  int threads_;
};

}  // namespace

/// Binds anew only where sizes, strides, types or the semiring differ from the last run's.
void prepare(const planner::Schedule& schedule, std::span<const Tensor> outputs, std::span<const Tensor> operands,
             Workspace& workspace, const Settings& settings) {
  const planner::Extents& extents = settings.extents != nullptr ? *settings.extents : schedule.extents;
  workspace.candidate.clear();
  workspace.candidate.push_back(static_cast<std::int64_t>(settings.semiring));
  workspace.candidate.insert(workspace.candidate.end(), extents.begin(), extents.end());
  describe(workspace.candidate, operands);
  describe(workspace.candidate, outputs);
  if (workspace.signature != workspace.candidate) {
    workspace.signature.clear();
    workspace.bound = bind(schedule, extents, settings.semiring, outputs, operands);
    workspace.signature = workspace.candidate;
  }
  const BoundSchedule& bound = workspace.bound;
  const std::int64_t task_bytes = rounded(bound.task_scratch_bytes) * settings.threads;
  const std::int64_t shared_bytes = rounded(bound.shared_scratch_bytes);
  const std::int64_t needed = base::checked_sum(bound.arena_bytes + task_bytes + shared_bytes, settings.output_bytes);
  if (settings.memory_limit > 0 && needed > settings.memory_limit) {
    throw MemoryLimitError("this run needs " + std::to_string(needed) + " bytes, and the limit is " +
                               std::to_string(settings.memory_limit) + "; nothing was allocated",
                           needed, settings.memory_limit);
  }
  try {
    grow(workspace.arena, workspace.arena_bytes, bound.arena_bytes);
    grow(workspace.task_scratch, workspace.task_scratch_bytes, task_bytes);
    grow(workspace.shared_scratch, workspace.shared_scratch_bytes, shared_bytes);
  } catch (const std::bad_alloc&) {
    throw MemoryLimitError(
        "this run needs " + std::to_string(needed) + " bytes of working memory, which the machine refused", needed,
        settings.memory_limit);
  }
}

void clear(const Tensor& tensor) {
  base::Pace pace;
  clear_axis(tensor, 0, 0, pace);
  base::check_wanted();
}

void Workspace::Free::operator()(std::byte* memory) const { base::free_aligned(memory); }

void run(const planner::Schedule& schedule, std::span<const Tensor> outputs, std::span<const Tensor> operands,
         Workspace& workspace, const Settings& settings) {
  prepare(schedule, outputs, operands, workspace, settings);
  workspace.operands.clear();
  for (const Tensor& operand : operands) workspace.operands.push_back(operand.data());
  workspace.outputs.clear();
  for (const Tensor& output : outputs) workspace.outputs.push_back(output.mutable_data());
  Runner runner(workspace.outputs, workspace.operands, workspace, settings.threads);
  for (const std::size_t o : workspace.bound.cleared) clear(outputs[o]);
  const double flops = workspace.bound.flops;
  double done = 0;
  std::size_t left = workspace.bound.steps.size();
  for (const BoundStep& step : workspace.bound.steps) {
    base::ask_whether_wanted();
    const double before = flops > 0 ? done / flops : 0.0;
    done += step.flops;
    const double after = --left > 0 && flops > 0 ? done / flops : 1.0;
    {
      const base::Part part(before, after);
      runner.run(step);
    }
    base::tell_progress(after);
  }
}

void run_prepared(Workspace& workspace, std::span<void* const> outputs, std::span<const void* const> operands,
                  int threads) {
  Runner runner(outputs, operands, workspace, threads);
  for (const BoundStep& step : workspace.bound.steps) runner.run(step);
}

}  // namespace plated::engine
