// Runs smoothing: a linear scan back, and the kernel for what meets in each slice.
#include "engine/fused_smoothing.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/watch.hpp"
#include "engine/scan_numbers.hpp"
#include "engine/thread_pool.hpp"

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

template <class T>
T* moved(T* data, Dtype dtype, std::int64_t elements) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  if (data == nullptr) return data;
  return static_cast<Byte*>(data) + elements * static_cast<std::int64_t>(size_of(dtype));
}

}  // namespace

void write_exponentials(Dtype dtype, const void* from, std::int64_t count, void* to) {
  if (dtype == Dtype::float32) {
    const auto* x = static_cast<const float*>(from);
    std::transform(x, x + count, static_cast<float*>(to), [](float v) { return std::exp(v); });
  } else {
    const auto* x = static_cast<const double*>(from);
    std::transform(x, x + count, static_cast<double*>(to), [](double v) { return std::exp(v); });
  }
}

std::int64_t FusedSmoothing::block() const {
  const std::int64_t message = width() * static_cast<std::int64_t>(size_of(there.shape.dtype));
  return std::min(there.slices, std::max(fewest_slices, cached_bytes / (2 * message)));
}

std::int64_t FusedSmoothing::tasks(std::int64_t slices) const {
  const std::int64_t grain = slice_grain(slices);
  return (there.rows + rows_of_a_meeting - 1) / rows_of_a_meeting * ((slices + grain - 1) / grain);
}

FusedSmoothing::Memory FusedSmoothing::take(MemoryLayout& layout, int threads) const {
  const kernels::ScanShape& shape = there.shape;
  const auto size = static_cast<std::int64_t>(size_of(shape.dtype));
  const std::int64_t pairs = matrix_answer ? shape.states * shape.states : 0;
  const auto scratch = static_cast<std::int64_t>(
      base::in_whole_lines(kernels::ChainPosterior::scratch_bytes(shape.dtype, shape.states)));
  Memory memory{};
  memory.own = layout.take((block() + 1) * width() * size);
  memory.returning = layout.take((block() + 1) * width() * size);
  memory.message = layout.take(width() * size);
  memory.shift = layout.take<double>(there.rows);
  memory.weight = layout.take<double>(there.rows);
  memory.packed =
      layout.take(static_cast<std::int64_t>(kernels::ChainPosterior::packed_bytes(shape.dtype, shape.states)));
  memory.scratch = layout.take(scratch * threads);
  memory.totals = layout.take<double>(tasks(block()) * pairs);
  memory.pairs = layout.take<double>(pairs);
  memory.back = back.take(layout, threads);
  return memory;
}

void FusedSmoothing::copy_messages(const Run& run, std::int64_t slice, std::int64_t count, std::byte* to) const {
  const void* from = moved(run.operands[messages], there.shape.dtype, slice * width());
  if (run.in_real_space) {
    std::memcpy(to, from, static_cast<std::size_t>(count * width()) * size_of(there.shape.dtype));
  } else {
    write_exponentials(there.shape.dtype, from, count * width(), to);
  }
}

/// Messages at the states first … first + count of the chain, on the way there.
void FusedSmoothing::copy_block(const Run& run, std::int64_t first, std::int64_t count, std::byte* to) const {
  const std::int64_t size = width() * static_cast<std::int64_t>(size_of(there.shape.dtype));
  // The message before a slice is at its first state or, on the way back in time, at its last one.
  const std::int64_t slice = there.forward ? first : first - 1;
  const std::int64_t begin = std::max<std::int64_t>(slice, 0);
  const std::int64_t end = std::min(slice + count + 1, there.slices);
  copy_messages(run, begin, end - begin, to + (begin - slice) * size);
  if (end - begin == count + 1) return;
  std::byte* slot = to + (there.forward ? count : 0) * size;
  for (std::int64_t r = 0; r < there.rows; ++r) {
    const double* row = run.last + r * there.shape.states;
    const double best = *std::max_element(row, row + there.shape.states);
    for (std::int64_t a = 0; a < there.shape.states; ++a) {
      const double value = best == -std::numeric_limits<double>::infinity() ? 0.0 : std::exp(row[a] - best);
      put_number(there.shape.dtype, slot, r * there.shape.states + a, value);
    }
  }
}

bool FusedSmoothing::run(const Run& run, const Memory& memory) const {
  const kernels::ScanShape& shape = there.shape;
  const std::int64_t message = width() * static_cast<std::int64_t>(size_of(shape.dtype));
  const std::int64_t pairs = shape.states * shape.states;
  const bool forward = there.forward;
  const kernels::Scan scan = back.pack(run.operands, memory.back);
  // The matrix by the state at the earlier end of a slice.
  const kernels::ChainPosterior posterior(
      shape.dtype, shape.states, run.pairs != nullptr ? run.operands[there.matrix] : nullptr,
      there.matrix_stride[forward ? 0 : 1], there.matrix_stride[forward ? 1 : 0], memory.packed);
  if (run.pairs != nullptr) std::fill_n(memory.pairs, pairs, 0.0);
  std::fill_n(memory.shift, there.rows, 0.0);
  const std::int64_t size = block();
  const std::int64_t blocks = (there.slices + size - 1) / size;
  for (std::int64_t k = 0; k < blocks; ++k) {
    const base::PartOf part(k, blocks);
    base::ask_whether_wanted();
    const std::int64_t first = (forward ? blocks - 1 - k : k) * size;
    const std::int64_t count = std::min(size, there.slices - first);
    copy_block(run, first, count, memory.own);
    write_exponentials(shape.dtype, memory.message, width(), memory.returning + (forward ? count : 0) * message);
    back.run(scan, run.operands,
             {.first = forward ? there.slices - first - count : first,
              .steps = count,
              .message = memory.message,
              .shift = memory.shift,
              .lengths = run.lengths,
              .trace = {.messages = memory.returning + (forward ? count - 1 : 1) * message,
                        .step_stride = forward ? -width() : width(),
                        .linear = true}},
             memory.back, run.threads);
    if (!meet(posterior, run, memory, first, count)) return false;
  }
  if (run.pairs == nullptr) return true;
  posterior.finish(memory.pairs, memory.pairs);
  for (std::int64_t a = 0; a < shape.states; ++a) {
    for (std::int64_t b = 0; b < shape.states; ++b) {
      run.pairs[forward != is_turned ? a * shape.states + b : b * shape.states + a] =
          memory.pairs[a * shape.states + b];
    }
  }
  return true;
}

bool FusedSmoothing::meet(const kernels::ChainPosterior& posterior, const Run& run, const Memory& memory,
                          std::int64_t first, std::int64_t count) const {
  const bool forward = there.forward;
  const Dtype dtype = there.shape.dtype;
  const std::int64_t pairs = there.shape.states * there.shape.states;
  kernels::PosteriorRun all;
  all.source_term = there.at(forward ? there.before : there.after, run.operands, first, 1);
  all.target_term = there.at(forward ? there.after : there.before, run.operands, first, 1);
  all.forward = {.data = forward ? memory.own : memory.returning, .step_stride = width()};
  all.backward = {.data = forward ? memory.returning : memory.own, .step_stride = width()};
  all.weight = memory.weight;
  all.lengths = run.lengths;
  // Tasks are cut by sizes alone: totals are added up in their order.
  const std::int64_t grain = slice_grain(count);
  const std::int64_t row_tasks = (there.rows + rows_of_a_meeting - 1) / rows_of_a_meeting;
  const std::int64_t number = tasks(count);
  const std::size_t scratch = base::in_whole_lines(posterior.scratch_bytes());
  if (run.pairs != nullptr) std::fill_n(memory.totals, number * pairs, 0.0);
  std::atomic<bool> safe = true;
  // One place at each end of the slices at a time; the matrix with the first ones.
  std::size_t done[2] = {0, 0};
  for (bool is_first = true;; is_first = false) {
    const auto next = [&](bool earlier) {
      std::size_t& at = done[earlier ? 0 : 1];
      while (at < places.size() && (places[at].before == forward) != earlier) ++at;
      if (at == places.size()) return kernels::PosteriorPlace{};
      const SmoothedPlace& place = places[at];
      return kernels::PosteriorPlace{.data = moved(run.data[at++], place.dtype, first * place.slice_stride),
                                     .dtype = place.dtype,
                                     .step_stride = place.slice_stride,
                                     .state_stride = place.state_stride,
                                     .row_offset = place.row_offset.data()};
    };
    all.before = next(true);
    all.after = next(false);
    const bool counts = is_first && run.pairs != nullptr;
    if (all.before.data == nullptr && all.after.data == nullptr && !counts) break;
    auto task = [&](std::int64_t t, int worker) {
      const std::int64_t row = t % row_tasks * rows_of_a_meeting;
      const std::int64_t begin = t / row_tasks * grain;
      kernels::PosteriorRun part = all;
      part.first_step = first + begin;
      part.steps = std::min(grain, count - begin);
      part.forward.data = moved(all.forward.data, dtype, begin * width());
      part.backward.data = moved(all.backward.data, dtype, begin * width());
      part.source_term.data = moved(all.source_term.data, dtype, begin * all.source_term.step_stride);
      part.target_term.data = moved(all.target_term.data, dtype, begin * all.target_term.step_stride);
      part.before.data = moved(all.before.data, all.before.dtype, begin * all.before.step_stride);
      part.after.data = moved(all.after.data, all.after.dtype, begin * all.after.step_stride);
      part.totals = counts ? memory.totals + t * pairs : nullptr;
      const std::int64_t end = std::min(there.rows, row + rows_of_a_meeting);
      if (!posterior.run(row, end, part, memory.scratch + scratch * static_cast<std::size_t>(worker))) safe = false;
    };
    parallel_for(number, run.threads, TaskRef(task));
    if (!safe) return false;
  }
  for (std::int64_t t = 0; t < number && run.pairs != nullptr; ++t) {
    for (std::int64_t k = 0; k < pairs; ++k) memory.pairs[k] += memory.totals[t * pairs + k];
  }
  return true;
}

}  // namespace plated::engine
