// Runs smoothing: a linear scan back, and the kernel for what meets in each slice.
#include "engine/fused_smoothing.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/watch.hpp"
#include "engine/kernel.hpp"
#include "engine/scan_numbers.hpp"
#include "engine/thread_pool.hpp"
#include "kernels/exponentials.hpp"

namespace plated::engine {
namespace {

// Blocks whose messages of both directions stay in the second-level cache.
constexpr std::int64_t cached_bytes = 1 << 20;
constexpr std::int64_t fewest_slices = 64;
constexpr std::int64_t rows_of_a_meeting = 32;
constexpr std::int64_t slices_of_a_meeting = 2048;
constexpr std::int64_t meetings = 16;

std::int64_t slice_grain(std::int64_t slices) {
  return std::max(slices_of_a_meeting, (slices + meetings - 1) / meetings);
}

}  // namespace

std::int64_t FusedSmoothing::block() const {
  const std::int64_t message = width() * static_cast<std::int64_t>(size_of(there.shape.dtype));
  return std::min(there.most, std::max(fewest_slices, cached_bytes / (2 * message)));
}

std::int64_t FusedSmoothing::tasks(std::int64_t slices) const {
  const std::int64_t grain = slice_grain(slices);
  return (there.rows + rows_of_a_meeting - 1) / rows_of_a_meeting * ((slices + grain - 1) / grain);
}

FusedSmoothing::Memory FusedSmoothing::take(MemoryLayout& layout, int threads) const {
  const kernels::ScanShape& shape = there.shape;
  const std::int64_t message = width() * static_cast<std::int64_t>(size_of(shape.dtype));
  const auto scratch = static_cast<std::int64_t>(
      base::in_whole_lines(kernels::ChainPosterior::scratch_bytes(shape.dtype, shape.states)));
  Memory memory{};
  memory.own = layout.take((block() + 1) * message);
  memory.returning = layout.take((block() + 1) * message);
  for (std::byte** one : {&memory.message, &memory.before, &memory.edge, &memory.edge_numbers}) {
    *one = layout.take(message);
  }
  memory.shift = layout.take<double>(there.rows);
  memory.weight = layout.take<double>(there.rows);
  memory.packed = layout.take(static_cast<std::int64_t>(kernels::packed_matrix_bytes(shape.dtype, shape.states)));
  memory.scratch = layout.take(scratch * threads);
  memory.totals = layout.take<double>(tasks(block()) * pairs());
  memory.pairs = layout.take<double>(pairs());
  memory.pairs_of_range = layout.take<double>(pairs());
  memory.back = back.take(layout, threads);
  return memory;
}

FusedSmoothing::Packed FusedSmoothing::pack(std::span<const void* const> operands, const Memory& memory) const {
  const kernels::ScanShape& shape = there.shape;
  // The matrix by the state at the earlier end of a slice.
  return {.back = back.pack(operands, memory.back),
          .posterior = {shape.dtype, shape.states, matrix_answer ? operands[there.matrix] : nullptr,
                        there.matrix_stride[there.forward ? 0 : 1], there.matrix_stride[there.forward ? 1 : 0],
                        memory.packed}};
}

void FusedSmoothing::copy_messages(const Run& run, std::int64_t slice, std::int64_t count, std::byte* to) const {
  const void* from = there.rows_at(run.operands[messages]).from(slice).data;
  if (run.in_real_space) {
    std::memcpy(to, from, static_cast<std::size_t>(count * width()) * size_of(there.shape.dtype));
  } else {
    kernels::write_exponentials(there.shape.dtype, from, count * width(), to);
  }
}

const std::byte* FusedSmoothing::messages_of_block(const Run& run, const Memory& memory, std::int64_t first,
                                                   std::int64_t count) const {
  const std::int64_t size = width() * static_cast<std::int64_t>(size_of(there.shape.dtype));
  // The message before a slice is at its first state or, on the way back in time, at its last one.
  const std::int64_t slice = there.forward ? first : first - 1;
  const std::int64_t begin = std::max<std::int64_t>(slice, 0);
  const std::int64_t end = std::min(slice + count + 1, run.slices);
  const bool inside = end - begin == count + 1;
  if (inside && run.in_real_space) return static_cast<const std::byte*>(run.operands[messages]) + begin * size;
  copy_messages(run, begin, end - begin, memory.own + (begin - slice) * size);
  if (!inside) {
    std::memcpy(memory.own + (there.forward ? count : 0) * size, memory.edge, static_cast<std::size_t>(size));
  }
  return memory.own;
}

bool FusedSmoothing::run(const Packed& packed, const Run& run, const Memory& memory) const {
  const kernels::ScanShape& shape = there.shape;
  const std::int64_t message = width() * static_cast<std::int64_t>(size_of(shape.dtype));
  const bool forward = there.forward;
  std::memcpy(memory.before, memory.message, static_cast<std::size_t>(message));
  std::fill_n(memory.pairs_of_range, pairs(), 0.0);
  const std::int64_t size = block();
  const std::int64_t blocks = (run.slices + size - 1) / size;
  for (std::int64_t k = 0; k < blocks; ++k) {
    const base::PartOf part(k, blocks);
    base::ask_whether_wanted();
    const std::int64_t first = (forward ? blocks - 1 - k : k) * size;
    const std::int64_t count = std::min(size, run.slices - first);
    kernels::write_exponentials(shape.dtype, memory.message, width(),
                                memory.returning + (forward ? count : 0) * message);
    kernels::SlicePlace returning = there.rows_at<void>(memory.returning).from(forward ? count - 1 : 1);
    if (forward) returning.step_stride *= -1;
    back.run(packed.back, run.operands,
             {.origin = run.origin,
              .slice = forward ? first + count - 1 : first,
              .steps = count,
              .message = memory.message,
              .shift = memory.shift,
              .lengths = run.lengths,
              .trace = {.messages = returning, .offsets = {}, .linear = true}},
             memory.back, run.threads);
    if (!meet(packed.posterior, run, memory, first, count)) return false;
  }
  return true;
}

void FusedSmoothing::keep_pairs(const Memory& memory) const {
  for (std::int64_t k = 0; k < pairs(); ++k) memory.pairs[k] += memory.pairs_of_range[k];
}

void FusedSmoothing::add_pairs(const Packed& packed, const Memory& memory, double* total) const {
  const std::int64_t states = there.shape.states;
  packed.posterior.finish(memory.pairs, memory.pairs);
  for (std::int64_t a = 0; a < states; ++a) {
    for (std::int64_t b = 0; b < states; ++b) {
      total[there.forward != is_turned ? a * states + b : b * states + a] += memory.pairs[a * states + b];
    }
  }
}

bool FusedSmoothing::meet(const kernels::ChainPosterior& posterior, const Run& run, const Memory& memory,
                          std::int64_t first, std::int64_t count) const {
  const bool forward = there.forward;
  const std::int64_t pairs = this->pairs();
  kernels::PosteriorRun all;
  all.source_term = there.at(forward ? there.before : there.after, run.operands, first, memory.back);
  all.target_term = there.at(forward ? there.after : there.before, run.operands, first, memory.back);
  const std::byte* const own = messages_of_block(run, memory, first, count);
  all.forward = there.rows_at<const void>(forward ? own : memory.returning);
  all.backward = there.rows_at<const void>(forward ? memory.returning : own);
  all.weight = memory.weight;
  all.lengths = run.lengths;
  // Tasks are cut by sizes alone: totals are added up in their order.
  const std::int64_t grain = slice_grain(count);
  const std::int64_t row_tasks = (there.rows + rows_of_a_meeting - 1) / rows_of_a_meeting;
  const std::int64_t number = tasks(count);
  const std::size_t scratch = base::in_whole_lines(posterior.scratch_bytes());
  std::fill_n(memory.totals, number * pairs, 0.0);
  const auto smooth = sweep_kernels().smooth;
  std::atomic<bool> safe = true;
  // One place at each end of the slices at a time; the matrix with the first ones.
  std::size_t done[2] = {0, 0};
  for (bool is_first = true;; is_first = false) {
    const auto next = [&](bool earlier) {
      std::size_t& at = done[earlier ? 0 : 1];
      while (at < places.size() && (places[at].before == forward) != earlier) ++at;
      if (at == places.size()) return kernels::SlicePlace{};
      void* data = run.data[at];
      return places[at++].layout.at(data, first);
    };
    all.before = next(true);
    all.after = next(false);
    const bool counts = is_first && pairs > 0;
    if (all.before.data == nullptr && all.after.data == nullptr && !counts) break;
    auto task = [&](std::int64_t t, int worker) {
      const std::int64_t row = t % row_tasks * rows_of_a_meeting;
      const std::int64_t begin = t / row_tasks * grain;
      kernels::PosteriorRun part = all;
      part.first_step = run.origin + first + begin;
      part.steps = std::min(grain, count - begin);
      for (kernels::SliceTerm* read : {&part.forward, &part.backward, &part.source_term, &part.target_term}) {
        *read = read->from(begin);
      }
      for (kernels::SlicePlace* written : {&part.before, &part.after}) *written = written->from(begin);
      part.totals = counts ? memory.totals + t * pairs : nullptr;
      const std::int64_t end = std::min(there.rows, row + rows_of_a_meeting);
      if (!(posterior.*smooth)(row, end, part, memory.scratch + scratch * static_cast<std::size_t>(worker)))
        safe = false;
    };
    parallel_for(number, run.threads, TaskRef(task));
    if (!safe) return false;
  }
  for (std::int64_t t = 0; t < number; ++t) {
    for (std::int64_t k = 0; k < pairs; ++k) memory.pairs_of_range[k] += memory.totals[t * pairs + k];
  }
  return true;
}

}  // namespace plated::engine
