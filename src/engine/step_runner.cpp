// Runs steps and blocks of steps.
#include "engine/step_runner.hpp"

#include <algorithm>
#include <array>

#include "base/aligned_memory.hpp"
#include "base/watch.hpp"
#include "engine/bound_scan.hpp"
#include "engine/largest.hpp"
#include "engine/thread_pool.hpp"

namespace plated::engine {

void StepRunner::run(const BoundStep& step) const {
  if (step.scan != no_index) {
    begin(step);
    run_blocks(step, 0, step.in_blocks == no_index ? 1 : workspace_.bound.blocked[step.in_blocks].blocks.count());
    return deliver(step);
  }
  const double seen = run_whole(step);
  if (looks_.unseen != nullptr && step.looks_at != no_index && seen > looks_.unseen->most(step.looks_at)) {
    looks_.unseen->search(step.looks_at);
  }
  if (looks_.finite != nullptr && step.shows != no_index) (*looks_.finite)[step.shows] = seen == 0;
}

double StepRunner::run_whole(const BoundStep& step) const {
  const BoundSchedule& bound = workspace_.bound;
  if (step.in_blocks == no_index) {
    workspace_.inputs.clear();
    for (const Place& place : bound.inputs(step)) workspace_.inputs.push_back(read(place));
    return run_tasks(bound.kernels[step.kernel], workspace_.inputs, write(bound.output(step)));
  }
  const BlockedStep& blocked = bound.blocked[step.in_blocks];
  const std::int64_t count = blocked.blocks.count();
  if (blocked.folds && blocked.fold.keeps_all) return run_again(step, 0, count);
  if (!blocked.folds) return run_range(step, 0, count, 0, nullptr);
  const double seen = fold_range(step, 0, count, 0);
  deliver(step);
  return seen;
}

void StepRunner::run_ranges(const BoundStep& step, std::int64_t first, std::int64_t last) const {
  BoundScan& scan = *workspace_.bound.scans[step.scan];
  for (std::int64_t k = first; k < last; ++k) {
    const base::PartOf part(k - first, last - first);
    base::ask_whether_wanted();
    const ScanRange range = aim(step, scan.forward ? k : first + last - 1 - k, first);
    if (step.again) {
      scan.run_again(range, threads_);
    } else {
      scan.run(range, threads_);
    }
  }
}

ScanRange StepRunner::aim(const BoundStep& step, std::int64_t block, std::int64_t origin) const {
  const BoundSchedule& bound = workspace_.bound;
  BoundScan& scan = *bound.scans[step.scan];
  const BlockedStep* blocked = step.in_blocks == no_index ? nullptr : &bound.blocked[step.in_blocks];
  ScanRange range{.first = 0, .count = scan.slices, .block = block};
  if (blocked != nullptr) {
    range.first = block * blocked->blocks.size;
    range.count = std::min(blocked->blocks.size, scan.slices - range.first);
  }
  std::size_t next = 0;  // of the inputs and outputs
  const auto bytes = [&](const Place& place) {
    const std::int64_t ahead = place.in_chunks() ? block - origin : block;
    return blocked == nullptr ? 0 : blocked->advance[next] * ahead;
  };
  scan.inputs.clear();
  for (const Place& place : bound.inputs(step)) {
    scan.inputs.push_back(static_cast<const std::byte*>(read(place)) + bytes(place));
    ++next;
  }
  const auto output = [&]() -> void* {
    const Place& place = bound.places[step.first_place + next];
    void* data = place.is_nowhere() ? nullptr : static_cast<std::byte*>(write(place)) + bytes(place);
    ++next;
    return data;
  };
  ++next;  // the last message
  if (scan.keeps) range.messages = output();
  if (scan.keeps_shifts) range.shifts = static_cast<double*>(output());
  for (ScanAnswer& answer : scan.answers) answer.data = output();
  return range;
}

void StepRunner::begin(const BoundStep& step) const {
  if (step.scan == no_index || step.again) return;
  BoundScan& scan = *workspace_.bound.scans[step.scan];
  scan.checkpoints =
      scan.checkpoints_at == BoundScan::no_checkpoints ? nullptr : workspace_.arena.get() + scan.checkpoints_at;
  (void)aim(step, 0, 0);
  scan.begin(threads_);
}

void StepRunner::run_blocks(const BoundStep& step, std::int64_t first, std::int64_t last) const {
  if (step.scan != no_index) return run_ranges(step, first, last);
  if (workspace_.bound.blocked[step.in_blocks].folds) {
    fold_range(step, first, last, first);
  } else {
    run_range(step, first, last, first, nullptr);
  }
}

void StepRunner::deliver(const BoundStep& step) const {
  const BoundSchedule& bound = workspace_.bound;
  if (step.scan != no_index && !step.again) {
    return bound.scans[step.scan]->finish(static_cast<double*>(write(bound.output(step))));
  }
  const BlockedStep& blocked = bound.blocked[step.in_blocks];
  if (blocked.folds) deliver(step, blocked.fold.total(tree(blocked), threads_));
}

double StepRunner::run_again(const BoundStep& step, std::int64_t first, std::int64_t last) const {
  if (step.in_blocks == no_index) {
    run(step);
    return 0;
  }
  const BlockedStep& blocked = workspace_.bound.blocked[step.in_blocks];
  if (!blocked.folds) return run_range(step, first, last, 0, nullptr);
  double* nodes = tree(blocked);
  const double seen = run_range(step, first, last, 0, blocked.fold.leaf(first, nodes));
  deliver(step, blocked.fold.refold(first, last, nodes, threads_));
  return seen;
}

void StepRunner::deliver(const BoundStep& step, const double* total) const {
  const BoundSchedule& bound = workspace_.bound;
  const void* input = total;
  run_tasks(bound.kernels[bound.blocked[step.in_blocks].delivery], std::span(&input, 1), write(bound.output(step)));
}

double StepRunner::fold_range(const BoundStep& step, std::int64_t first, std::int64_t last, std::int64_t origin) const {
  const BlockedStep& blocked = workspace_.bound.blocked[step.in_blocks];
  auto* results = reinterpret_cast<double*>(workspace_.arena.get() + blocked.results);
  const std::int64_t count = blocked.blocks.count();
  double seen = 0;
  for (std::int64_t done = 0; done < last - first;) {
    const std::int64_t group = std::min(blocked.group, last - first - done);
    const std::int64_t begin = blocked.descends ? last - done - group : first + done;
    seen = std::max(seen, run_range(step, begin, begin + group, origin, results));
    for (std::int64_t k = 0; k < group; ++k) {
      const std::int64_t block = blocked.descends ? begin + group - 1 - k : begin + k;
      blocked.fold.add(blocked.descends ? count - 1 - block : block, results + (block - begin) * blocked.fold.elements,
                       tree(blocked), threads_);
    }
    done += group;
  }
  return seen;
}

double StepRunner::run_range(const BoundStep& step, std::int64_t first, std::int64_t last, std::int64_t origin,
                             double* results) const {
  const BoundSchedule& bound = workspace_.bound;
  const BlockedStep& blocked = bound.blocked[step.in_blocks];
  const std::span<const Place> places = bound.inputs(step);
  using Pointers = std::array<const void*, most_block_inputs>;
  const auto block_kernel = [&](std::int64_t block) -> const Kernel& {
    return bound.kernels[block + 1 == blocked.blocks.count() ? blocked.last_kernel : step.kernel];
  };
  const auto moved = [&](const void* base, std::size_t k, const Place& place, std::int64_t block) {
    return static_cast<const std::byte*>(base) + blocked.advance[k] * (place.in_chunks() ? block - origin : block);
  };
  const auto inputs_of = [&](std::int64_t block, Pointers& pointers) {
    for (std::size_t k = 0; k < places.size(); ++k) pointers[k] = moved(read(places[k]), k, places[k], block);
    return std::span<const void* const>(pointers.data(), places.size());
  };
  const auto output_of = [&](std::int64_t block) -> void* {
    if (results != nullptr) return results + (block - first) * blocked.fold.elements;
    const Place& place = bound.output(step);
    return static_cast<std::byte*>(write(place)) +
           blocked.advance[places.size()] * (place.in_chunks() ? block - origin : block);
  };
  if (last - first == 1) {
    Pointers pointers;
    return run_tasks(block_kernel(first), inputs_of(first, pointers), output_of(first));
  }
  Largest seen;
  auto run_block = [&](std::int64_t t, int worker) {
    Pointers pointers;
    const Kernel& kernel = block_kernel(first + t);
    const std::span<const void* const> inputs = inputs_of(first + t, pointers);
    void* output = output_of(first + t);
    std::byte* scratch = task_scratch(worker);
    std::byte* shared = scratch + base::in_whole_lines(kernel.task_scratch_bytes());
    for (std::int64_t task = 0; task < kernel.tasks(); ++task) {
      if (task > 0 && base::stop_requested()) return;
      seen.see(kernel.run_task(task, inputs, output, scratch, shared));
    }
    kernel.finish(output, shared);
  };
  parallel_for(last - first, threads_, TaskRef(run_block));
  return seen.value();
}

double StepRunner::run_tasks(const Kernel& kernel, std::span<const void* const> inputs, void* output) const {
  Largest seen;
  auto task = [&](std::int64_t t, int worker) {
    seen.see(kernel.run_task(t, inputs, output, task_scratch(worker), workspace_.shared_scratch.get()));
  };
  parallel_for(kernel.tasks(), threads_, TaskRef(task));
  kernel.finish(output, workspace_.shared_scratch.get());
  return seen.value();
}

const void* StepRunner::read(const Place& place) const {
  if (place.space() == Place::Space::operand) return operands_[place.at()];
  if (place.space() == Place::Space::kept) return kept_ + place.at();
  return write(place);
}

void* StepRunner::write(const Place& place) const {
  if (place.space() == Place::Space::output) return outputs_[place.at()];
  return workspace_.arena.get() + place.at();
}

std::byte* StepRunner::task_scratch(int worker) const {
  return workspace_.task_scratch.get() + workspace_.bound.task_scratch_bytes * static_cast<std::size_t>(worker);
}

double* StepRunner::tree(const BlockedStep& blocked) const {
  return reinterpret_cast<double*>(workspace_.arena.get() + blocked.tree);
}

}  // namespace plated::engine
