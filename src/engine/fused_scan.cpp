// Binds and runs fused scans.
#include "engine/fused_scan.hpp"

#include <algorithm>
#include <utility>

#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "engine/recursion.hpp"
#include "engine/thread_pool.hpp"

namespace plated::engine {
namespace {

constexpr std::int64_t rows_of_a_task = 8;
constexpr std::int64_t split_steps = 1024 * planner::time_parts;
constexpr std::int64_t settled_terms = 1 << 20;
constexpr std::int64_t fewest_steps = 32;
constexpr std::int64_t most_steps = 1024;

}  // namespace

std::vector<std::int64_t> row_offsets(const std::vector<std::int64_t>& extent,
                                      const std::vector<std::int64_t>& stride) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(base::checked_product(extent)), 0);
  std::int64_t inside = 1;
  for (std::size_t axis = extent.size(); axis-- > 0;) {
    for (std::size_t r = 0; r < offsets.size() && stride[axis] != 0; ++r) {
      offsets[r] += static_cast<std::int64_t>(r) / inside % extent[axis] * stride[axis];
    }
    inside *= extent[axis];
  }
  return offsets;
}

std::optional<FusedScan> fused_scan(const planner::Extents& extents, const Layouts& layouts,
                                    const FusedRequest& request) {
  const std::int64_t rows = planner::elements(extents, request.kept);
  if (!carries_offset(request.semiring) || rows == 0 || extents[request.before] == 0) return std::nullopt;
  FusedScan fused{
      .shape = {.semiring = request.semiring, .dtype = layouts.element(), .states = extents[request.before]},
      .forward = request.forward,
      .slices = extents[request.chain],
      .rows = rows,
      .before = {},
      .after = {}};
  bool same_type = true;
  const auto layout_of = [&](std::size_t operand) {
    Layout layout = layouts(planner::sliced_value(request.step, operand), extents);
    same_type = same_type && layout.dtype == fused.shape.dtype;
    return layout;
  };
  const auto term = [&](std::size_t operand, DimId state) {
    const Layout layout = layout_of(operand);
    return FusedTerm{.operand = planner::sliced_number(request.step, operand),
                     .slice_stride = layout.along(request.chain),
                     .state_stride = layout.along(state),
                     .row_offset = row_offsets(planner::sizes(extents, request.kept), layout.along(request.kept))};
  };
  const Layout matrix = layout_of(request.form.matrix);
  fused.matrix = planner::sliced_number(request.step, request.form.matrix);
  fused.matrix_stride[0] = matrix.along(request.before);
  fused.matrix_stride[1] = matrix.along(request.after);
  if (request.form.before) fused.before = term(*request.form.before, request.before);
  if (request.form.after) fused.after = term(*request.form.after, request.after);
  if (!same_type) return std::nullopt;
  return fused;
}

FusedScan FusedScan::returning() const {
  FusedScan other = *this;
  other.forward = !forward;
  std::swap(other.matrix_stride[0], other.matrix_stride[1]);
  std::swap(other.before, other.after);
  return other;
}

FusedScan::Memory FusedScan::take(MemoryLayout& layout, int threads) const {
  Memory memory;
  memory.packed = layout.take(static_cast<std::int64_t>(kernels::Scan::packed_bytes(shape)));
  memory.scratch_bytes = static_cast<std::int64_t>(base::in_whole_lines(kernels::Scan::scratch_bytes(shape)));
  const bool split = splits(slices);
  const std::int64_t most_rows = split ? std::max(rows, rows * shape.states * planner::time_parts) : rows;
  memory.scratch = layout.take(memory.scratch_bytes * groups(slices, most_rows, threads));
  if (split) memory.split = layout.take(split_bytes());
  return memory;
}

kernels::Scan FusedScan::pack(std::span<const void* const> operands, const Memory& memory) const {
  return {shape, operands[matrix], matrix_stride[0], matrix_stride[1], memory.packed};
}

kernels::SliceTerm FusedScan::at(const std::optional<FusedTerm>& term, std::span<const void* const> operands,
                                 std::int64_t slice, std::int64_t direction) const {
  if (!term) return {};
  const std::int64_t size = static_cast<std::int64_t>(size_of(shape.dtype));
  return {.data = static_cast<const std::byte*>(operands[term->operand]) + slice * term->slice_stride * size,
          .step_stride = direction * term->slice_stride,
          .state_stride = term->state_stride,
          .row_offset = term->row_offset.data()};
}

void FusedScan::run(const kernels::Scan& scan, std::span<const void* const> operands, const Stretch& stretch,
                    const Memory& memory, int threads) const {
  if (stretch.steps == 0) return;
  const std::int64_t direction = forward ? 1 : -1;
  kernels::ScanRun run;
  run.before = at(before, operands, slice(stretch.first), direction);
  run.after = at(after, operands, slice(stretch.first), direction);
  run.messages = stretch.message;
  run.offset = stretch.shift;
  run.steps = stretch.steps;
  run.trace = stretch.trace;
  run.lengths = stretch.lengths;
  run.first_step = slice(stretch.first);
  run.direction = direction;
  const std::int64_t grain = settles_after();
  std::int64_t settles = forward ? grain - run.first_step % grain : run.first_step % grain + 1;
  if (stretch.lengths != nullptr || !splits(grain)) return run_rows(scan, run, rows, settles, memory, threads);
  for (; run.steps > 0; settles = grain) {
    kernels::ScanRun block = run;
    block.steps = std::min(run.steps, settles);
    if (splits(block.steps)) {
      run_split(scan, block, memory, threads);
    } else {
      run_rows(scan, block, rows, settles, memory, threads);
    }
    run = later(run, block.steps);
  }
}

std::int64_t FusedScan::settles_after() const {
  // Of a split, every part has steps enough to outweigh what joins them. Else, settling is below a hundredth of the
  // work.
  if (splits(split_steps)) return split_steps;
  return std::clamp(settled_terms / (shape.states * shape.states), fewest_steps, most_steps);
}

kernels::ScanRun FusedScan::later(const kernels::ScanRun& run, std::int64_t steps) const {
  const auto size = static_cast<std::int64_t>(size_of(shape.dtype));
  const auto advance = [&](kernels::SliceTerm& term) {
    if (term.data != nullptr) term.data = static_cast<const std::byte*>(term.data) + steps * term.step_stride * size;
  };
  kernels::ScanRun rest = run;
  rest.steps -= steps;
  rest.first_step += steps * run.direction;
  advance(rest.before);
  advance(rest.after);
  if (rest.trace.messages != nullptr) {
    rest.trace.messages = static_cast<std::byte*>(run.trace.messages) + steps * run.trace.step_stride * size;
  }
  if (rest.trace.offsets != nullptr) rest.trace.offsets += steps * run.trace.offset_step_stride;
  return rest;
}

std::int64_t FusedScan::groups(std::int64_t steps, std::int64_t count, int threads) const {
  // In double: only the order of magnitude matters.
  const double work = static_cast<double>(steps) * static_cast<double>(count) * static_cast<double>(shape.states) *
                      static_cast<double>(shape.states);
  if (work < 100'000) return 1;
  return std::min<std::int64_t>(threads, (count + rows_of_a_task - 1) / rows_of_a_task);
}

/// Rows are independent, so their grouping changes no bits.
void FusedScan::run_rows(const kernels::Scan& scan, const kernels::ScanRun& run, std::int64_t count,
                         std::int64_t settles, const Memory& memory, int threads) const {
  const std::int64_t tasks = groups(run.steps, count, threads);
  const std::int64_t grain = ((count + tasks - 1) / tasks + rows_of_a_task - 1) / rows_of_a_task * rows_of_a_task;
  auto task = [&](std::int64_t t, int) {
    if (t * grain >= count) return;
    kernels::ScanRun rest = run;
    const auto share = [&](std::int64_t steps) { return static_cast<double>(steps) / static_cast<double>(run.steps); };
    for (std::int64_t steps = settles; rest.steps > 0 && !base::stop_requested(); steps = settles_after()) {
      kernels::ScanRun block = rest;
      block.steps = std::min(rest.steps, steps);
      const base::Part part(share(run.steps - rest.steps), share(run.steps - rest.steps + block.steps));
      scan.run(t * grain, std::min(count, (t + 1) * grain), block, memory.scratch + t * memory.scratch_bytes);
      rest = later(rest, block.steps);
    }
  };
  parallel_for(tasks, threads, TaskRef(task));
}

}  // namespace plated::engine
