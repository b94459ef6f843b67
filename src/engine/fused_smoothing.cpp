// Runs smoothing: groups of rows at once.
#include "engine/fused_smoothing.hpp"

#include <algorithm>
#include <atomic>

#include "engine/kernel.hpp"
#include "engine/thread_pool.hpp"

namespace plated::engine {

std::int64_t FusedSmoothing::group() const {
  constexpr std::int64_t most_groups = 16;
  const std::int64_t least = shape().rows_at_once();
  return least * ((there.rows + least * most_groups - 1) / (least * most_groups));
}

FusedSmoothing::Memory FusedSmoothing::take(MemoryLayout& layout, int threads) const {
  Memory memory;
  memory.packed = layout.take(static_cast<std::int64_t>(kernels::ChainPosterior::memory_bytes(shape())));
  memory.scratch = layout.take(static_cast<std::int64_t>(kernels::ChainPosterior::scratch_bytes(shape())) * threads);
  memory.totals = layout.take<double>(groups() * totals());
  memory.pairs = layout.take<double>(totals());
  memory.there = there.take(layout, threads);
  return memory;
}

void FusedSmoothing::pack(std::span<const void* const> operands, Memory& memory) const {
  std::fill_n(memory.pairs, totals(), 0.0);
  memory.kernel.emplace(shape(), operands[there.matrix], there.matrix_stride[0], there.matrix_stride[1], memory.packed);
}

bool FusedSmoothing::run(std::span<const void* const> operands, kernels::PosteriorRun run,
                         std::span<kernels::PosteriorPlace> to, const Memory& memory, int threads) const {
  there.convert(operands, run.there.steps, memory.there, threads);
  const std::int64_t first = there.forward ? 0 : run.there.steps - 1, direction = there.forward ? 1 : -1;
  const auto on_the_way = [&](auto all) {
    all.step_stride *= direction;
    return all;
  };
  for (std::size_t k = 0; k < places.size(); ++k) {
    to[k] = {.to = on_the_way(places[k].layout.at(to[k].to.data, first)), .before = places[k].before};
  }
  run.there.before = on_the_way(there.at(there.before, operands, first, memory.there));
  run.there.first_step += first;
  run.there.direction = direction;
  run.messages = on_the_way(there.rows_at(operands[messages]).from(first));
  run.places = to;
  const auto smooth = sweep_kernels().smooth;
  const auto scratch = static_cast<std::int64_t>(kernels::ChainPosterior::scratch_bytes(shape()));
  const std::int64_t rows = group(), tasks = groups(), totals = this->totals();
  std::atomic<bool> safe = true;
  auto task = [&](std::int64_t t, int worker) {
    kernels::PosteriorRun part = run;
    if (matrix_answer) {
      part.totals = memory.totals + t * totals;
      std::fill_n(part.totals, totals, 0.0);
    }
    const std::int64_t last = std::min(there.rows, (t + 1) * rows);
    if (!((*memory.kernel).*smooth)(t * rows, last, part, memory.scratch + scratch * worker)) safe = false;
  };
  parallel_for(tasks, threads, TaskRef(task));
  if (!safe) return false;
  for (std::int64_t t = 0; t < tasks && matrix_answer; ++t) {
    for (std::int64_t k = 0; k < totals; ++k) memory.pairs[k] += memory.totals[t * totals + k];
  }
  return true;
}

void FusedSmoothing::add_pairs(const Memory& memory, double* total) const {
  const std::int64_t states = there.shape.states;
  memory.kernel->add_pairs(memory.pairs, total, is_turned ? 1 : states, is_turned ? states : 1);
}

}  // namespace plated::engine
