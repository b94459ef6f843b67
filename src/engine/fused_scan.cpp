// Binds and runs fused scans.
#include "engine/fused_scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/checked_size.hpp"
#include "engine/thread_pool.hpp"
#include "tensor/numbers.hpp"
#include "tensor/offset.hpp"

namespace plated::engine {
namespace {

constexpr std::int64_t rows_of_a_task = 8;
constexpr std::int64_t converted_per_task = 1 << 15;

/// Rows of a slice's term without their best entries: from one type to another. What has overflowed is nothing to
/// kernels: it is taken out, as infinity.
template <class From, class To>
void convert_slice(const kernels::ScanShape& shape, const kernels::SliceTerm& slice, std::int64_t rows, To* to,
                   double* taken) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool smallest = shape.semiring == Semiring::min_plus;
  const double zero = smallest ? infinity : -infinity;
  for (std::int64_t r = 0; r < rows; ++r, to += shape.states) {
    const From* from = slice.at<From>(0, r);
    From best = static_cast<From>(zero);
    bool is_number = true;
    for (std::int64_t k = 0; k < shape.states; ++k) {
      const From x = from[k * slice.state_stride];
      best = smallest ? std::min(best, x) : std::max(best, x);
      is_number &= !std::isnan(x);
    }
    const auto shift = static_cast<double>(best);
    const bool overflows = !is_number || shift == -zero;
    for (std::int64_t k = 0; k < shape.states; ++k) {
      const auto x = static_cast<double>(from[k * slice.state_stride]);
      to[k] = static_cast<To>(overflows ? 0.0 : shift == zero ? x : x - shift);
    }
    taken[r] += overflows ? -zero : shift == zero ? 0.0 : shift;
  }
}

}  // namespace

SliceLayout slice_layout(const planner::Extents& extents, const Layout& layout, const planner::Scan& scan,
                         DimId state) {
  return {.dtype = layout.dtype,
          .slice_stride = layout.along(scan.chain),
          .state_stride = layout.along(state),
          .row_offset = tensor::all_offsets(planner::sizes(extents, scan.kept), layout.along(scan.kept))};
}

std::optional<FusedScan> fused_scan(const planner::Extents& extents, const Layouts& layouts,
                                    const FusedRequest& request) {
  const auto& scan = *request.step.as<planner::Scan>();
  const DimId before = (request.returns ? scan.after : scan.before)[0];
  const DimId after = (request.returns ? scan.before : scan.after)[0];
  const std::int64_t rows = planner::elements(extents, scan.kept);
  const Layout matrix = layouts(request.step.inputs[request.form.matrix], extents);
  if (!takes_shifts(request.semiring) || rows == 0 || extents[before] == 0 || matrix.dtype != layouts.element()) {
    return std::nullopt;
  }
  FusedScan fused{.shape = {.semiring = request.semiring, .dtype = matrix.dtype, .states = extents[before]},
                  .forward = scan.forward != request.returns,
                  .most = request.most,
                  .rows = rows,
                  .matrix = request.form.matrix,
                  .matrix_stride = {matrix.along(before), matrix.along(after)},
                  .before = {},
                  .after = {}};
  std::size_t conversions = 0;
  const auto term = [&](std::size_t operand, DimId state) {
    const planner::ValueId value = request.step.inputs[operand];
    FusedTerm read{.operand = operand, .layout = slice_layout(extents, layouts(value, extents), scan, state)};
    if (layouts.is_computed(value) || read.layout.dtype != matrix.dtype) read.converted = conversions++;
    return read;
  };
  if (request.form.before) fused.before = term(*request.form.before, before);
  if (request.form.after) fused.after = term(*request.form.after, after);
  return fused;
}

FusedScan::Memory FusedScan::take(MemoryLayout& layout, int threads) const {
  Memory memory;
  memory.packed = layout.take(static_cast<std::int64_t>(kernels::packed_matrix_bytes(shape.dtype, shape.states)));
  memory.scratch_bytes = static_cast<std::int64_t>(base::in_whole_lines(kernels::Scan::scratch_bytes(shape)));
  const bool splits = planner::splits_time(rows, shape.states, most);
  const std::int64_t most_rows = splits ? shape.states * planner::time_parts : rows;
  memory.scratch = layout.take(memory.scratch_bytes * groups(most, most_rows, threads));
  if (!converts()) return memory;
  for (const std::optional<FusedTerm>* term : {&before, &after}) {
    if (!*term || !(*term)->converted) continue;
    memory.converted[*(*term)->converted] =
        layout.take(most * rows * shape.states * static_cast<std::int64_t>(size_of(shape.dtype)));
  }
  memory.taken = layout.take<double>(most * rows);
  memory.sum = layout.take<double>(rows);
  return memory;
}

void FusedScan::pack(std::span<const void* const> operands, Memory& memory) const {
  memory.kernel.emplace(shape, operands[matrix], matrix_stride[0], matrix_stride[1], memory.packed);
}

kernels::SliceTerm FusedScan::at(const std::optional<FusedTerm>& term, std::span<const void* const> operands,
                                 std::int64_t slice, const Memory& memory) const {
  if (!term) return {};
  if (!term->converted) return term->layout.at(operands[term->operand], slice);
  return rows_at<const void>(memory.converted[*term->converted]).from(slice);
}

void FusedScan::run(std::span<const void* const> operands, std::int64_t slice, kernels::ScanRun run,
                    const Memory& memory, int threads) const {
  if (run.steps == 0) return;
  run.direction = forward ? 1 : -1;
  run.before = at(before, operands, slice, memory);
  run.after = at(after, operands, slice, memory);
  run.before.step_stride *= run.direction;
  run.after.step_stride *= run.direction;
  if (run.lengths == nullptr && planner::splits_time(rows, shape.states, run.steps)) {
    tensor::of_type(shape.dtype, [&]<class T>(T) { run_split<T>(run, memory, threads); });
  } else {
    run_rows(run, rows, memory, threads);
  }
  if (converts()) add_taken(slice, run, memory);
}

void FusedScan::convert(std::span<const void* const> operands, std::int64_t count, const Memory& memory,
                        int threads) const {
  if (!converts() || count == 0) return;
  const std::int64_t width = rows * shape.states;
  const std::int64_t grain = std::max<std::int64_t>(1, converted_per_task / width);
  auto task = [&](std::int64_t t, int) {
    for (std::int64_t s = t * grain; s < std::min(count, (t + 1) * grain); ++s) {
      std::fill_n(memory.taken + s * rows, rows, 0.0);
      for (const std::optional<FusedTerm>* term : {&before, &after}) {
        if (!*term || !(*term)->converted) continue;
        const kernels::SliceTerm from = (*term)->layout.at(operands[(*term)->operand], s);
        std::byte* to = memory.converted[*(*term)->converted];
        tensor::of_type(from.dtype, [&]<class From>(From) {
          tensor::of_type(shape.dtype, [&]<class To>(To) {
            convert_slice<From>(shape, from, rows, reinterpret_cast<To*>(to) + s * width, memory.taken + s * rows);
          });
        });
      }
    }
  };
  parallel_for((count + grain - 1) / grain, threads, TaskRef(task));
}

void FusedScan::add_taken(std::int64_t slice, const kernels::ScanRun& run, const Memory& memory) const {
  std::fill_n(memory.sum, rows, 0.0);
  for (std::int64_t s = 0; s < run.steps; ++s) {
    const double* taken = memory.taken + (slice + s * run.direction) * rows;
    for (std::int64_t r = 0; r < rows; ++r) {
      if (run.exists(s, r)) memory.sum[r] += taken[r];
      if (run.trace.offsets.data != nullptr) *run.trace.offsets.at<double>(s, r) += memory.sum[r];
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) run.offset[r] += memory.sum[r];
}

kernels::ScanTrace FusedScan::trace(std::int64_t slices, void* messages, double* shifts, bool in_real_space) const {
  kernels::ScanTrace trace{.messages = rows_at(messages), .offsets = {}, .linear = in_real_space};
  if (shifts != nullptr && !in_real_space) {
    trace.offsets = {.data = shifts, .dtype = Dtype::float64, .step_stride = rows, .row_stride = 1};
  }
  for (kernels::SlicePlace* place : {&trace.messages, &trace.offsets}) {
    *place = place->from(forward ? 1 : slices - 2);
    if (!forward) place->step_stride *= -1;
  }
  return trace;
}

std::int64_t FusedScan::groups(std::int64_t steps, std::int64_t count, int threads) const {
  // In double: only the order of magnitude matters.
  const double work = static_cast<double>(steps) * static_cast<double>(count) * static_cast<double>(shape.states) *
                      static_cast<double>(shape.states);
  if (work < 100'000) return 1;
  return std::min<std::int64_t>(threads, (count + rows_of_a_task - 1) / rows_of_a_task);
}

/// Rows are independent, so their grouping changes no bits.
void FusedScan::run_rows(const kernels::ScanRun& run, std::int64_t count, const Memory& memory, int threads) const {
  const std::int64_t tasks = groups(run.steps, count, threads);
  const std::int64_t grain = ((count + tasks - 1) / tasks + rows_of_a_task - 1) / rows_of_a_task * rows_of_a_task;
  auto task = [&](std::int64_t t, int) {
    if (t * grain >= count) return;
    memory.kernel->run(t * grain, std::min(count, (t + 1) * grain), run, memory.scratch + t * memory.scratch_bytes);
  };
  parallel_for(tasks, threads, TaskRef(task));
}

}  // namespace plated::engine
