// Binds and runs fused scans.
#include "engine/fused_scan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked_size.hpp"
#include "engine/thread_pool.hpp"

namespace plated::engine {
namespace {

constexpr std::int64_t rows_of_a_task = 8;

/// Whether any of the numbers is beyond all numbers, on the side of the better ones, or none.
template <class T>
bool overflows(bool smallest, const T* numbers, std::int64_t count, std::int64_t stride) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  bool good = true;
  for (std::int64_t k = 0; k < count; ++k) {
    const T x = smallest ? -numbers[k * stride] : numbers[k * stride];
    good &= x < infinity;
  }
  return !good;
}

template <class T>
void mark_rows(const FusedScan& scan, const FusedTerm& term, const T* data, std::int64_t origin, std::int64_t count,
               const std::int64_t* lengths, double* shift) {
  const bool smallest = scan.shape.semiring == Semiring::min_plus;
  for (std::int64_t r = 0; r < scan.rows; ++r) {
    const std::int64_t present = lengths == nullptr ? count : std::min(count, lengths[r] - origin);
    const T* row = data + term.row_offset[static_cast<std::size_t>(r)];
    for (std::int64_t s = 0; s < present; ++s) {
      if (!overflows(smallest, row + s * term.slice_stride, scan.shape.states, term.state_stride)) continue;
      shift[r] = smallest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
      break;
    }
  }
}

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
  if (!takes_shifts(request.semiring) || rows == 0 || extents[request.before] == 0) return std::nullopt;
  FusedScan fused{
      .shape = {.semiring = request.semiring, .dtype = layouts.element(), .states = extents[request.before]},
      .forward = request.forward,
      .most = request.most,
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
                     .row_offset = row_offsets(planner::sizes(extents, request.kept), layout.along(request.kept)),
                     .is_computed = layouts.is_computed(planner::sliced_value(request.step, operand))};
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
  const bool split = splits(most);
  const std::int64_t most_rows = split ? std::max(rows, rows * shape.states * planner::time_parts) : rows;
  memory.scratch = layout.take(memory.scratch_bytes * groups(most, most_rows, threads));
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
  const std::int64_t slice = forward ? stretch.first : stretch.slices - 1 - stretch.first;
  kernels::ScanRun run;
  run.before = at(before, operands, slice, direction);
  run.after = at(after, operands, slice, direction);
  run.messages = stretch.message;
  run.offset = stretch.shift;
  run.steps = stretch.steps;
  run.trace = stretch.trace;
  run.lengths = stretch.lengths;
  run.first_step = stretch.origin + slice;
  run.direction = direction;
  if (stretch.lengths == nullptr && splits(stretch.steps)) return run_split(scan, run, memory, threads);
  run_rows(scan, run, rows, memory, threads);
}

void FusedScan::mark_overflow(std::span<const void* const> operands, std::int64_t origin, std::int64_t count,
                              const std::int64_t* lengths, double* shift) const {
  for (const std::optional<FusedTerm>* term : {&before, &after}) {
    if (!*term || !(*term)->is_computed) continue;
    const void* data = operands[(*term)->operand];
    if (shape.dtype == Dtype::float32) {
      mark_rows(*this, **term, static_cast<const float*>(data), origin, count, lengths, shift);
    } else {
      mark_rows(*this, **term, static_cast<const double*>(data), origin, count, lengths, shift);
    }
  }
}

kernels::ScanTrace FusedScan::trace(std::int64_t slices, void* messages, double* shifts, bool in_real_space) const {
  const std::int64_t direction = forward ? 1 : -1;
  const std::int64_t second = forward ? 1 : slices - 2;
  const std::int64_t width = rows * shape.states;
  return {
      .messages = static_cast<std::byte*>(messages) + second * width * static_cast<std::int64_t>(size_of(shape.dtype)),
      .step_stride = direction * width,
      .offsets = shifts != nullptr && !in_real_space ? shifts + second * rows : nullptr,
      .offset_step_stride = direction * rows,
      .linear = in_real_space};
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
                         const Memory& memory, int threads) const {
  const std::int64_t tasks = groups(run.steps, count, threads);
  const std::int64_t grain = ((count + tasks - 1) / tasks + rows_of_a_task - 1) / rows_of_a_task * rows_of_a_task;
  auto task = [&](std::int64_t t, int) {
    if (t * grain >= count) return;
    scan.run(t * grain, std::min(count, (t + 1) * grain), run, memory.scratch + t * memory.scratch_bytes);
  };
  parallel_for(tasks, threads, TaskRef(task));
}

}  // namespace plated::engine
