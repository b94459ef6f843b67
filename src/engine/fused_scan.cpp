// Binds and runs fused scans.
#include "engine/fused_scan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/checked_size.hpp"
#include "engine/thread_pool.hpp"

namespace plated::engine {
namespace {

constexpr std::int64_t rows_of_a_task = 8;
constexpr std::int64_t converted_per_task = 1 << 15;

/// Rows of a term without their best entries: from one type to another. What has overflowed is nothing to kernels: it
/// is taken out, as infinity.
template <class From, class To>
void convert_slice(bool smallest, const FusedTerm& term, const From* slice, std::int64_t rows, std::int64_t states,
                   To* to, double* taken) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double zero = smallest ? infinity : -infinity;
  for (std::int64_t r = 0; r < rows; ++r, to += states) {
    const From* from = slice + term.row_offset[static_cast<std::size_t>(r)];
    From best = static_cast<From>(zero);
    bool is_number = true;
    for (std::int64_t k = 0; k < states; ++k) {
      const From x = from[k * term.state_stride];
      best = smallest ? std::min(best, x) : std::max(best, x);
      is_number &= !std::isnan(x);
    }
    const bool overflows = !is_number || static_cast<double>(best) == -zero;
    const auto shift = static_cast<double>(best);
    for (std::int64_t k = 0; k < states; ++k) {
      const auto x = static_cast<double>(from[k * term.state_stride]);
      to[k] = static_cast<To>(overflows ? 0.0 : shift == zero ? x : x - shift);
    }
    taken[r] += overflows ? -zero : shift == zero ? 0.0 : shift;
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
  const auto layout_of = [&](std::size_t operand) {
    return layouts(planner::sliced_value(request.step, operand), extents);
  };
  std::size_t conversions = 0;
  const auto term = [&](std::size_t operand, DimId state) {
    const Layout layout = layout_of(operand);
    const bool is_computed = layouts.is_computed(planner::sliced_value(request.step, operand));
    const bool converts = is_computed || layout.dtype != fused.shape.dtype;
    return FusedTerm{.operand = planner::sliced_number(request.step, operand),
                     .slice_stride = layout.along(request.chain),
                     .state_stride = layout.along(state),
                     .row_offset = row_offsets(planner::sizes(extents, request.kept), layout.along(request.kept)),
                     .dtype = layout.dtype,
                     .converted = converts ? std::optional(conversions++) : std::nullopt};
  };
  const Layout matrix = layout_of(request.form.matrix);
  if (matrix.dtype != fused.shape.dtype) return std::nullopt;
  fused.matrix = planner::sliced_number(request.step, request.form.matrix);
  fused.matrix_stride[0] = matrix.along(request.before);
  fused.matrix_stride[1] = matrix.along(request.after);
  if (request.form.before) fused.before = term(*request.form.before, request.before);
  if (request.form.after) fused.after = term(*request.form.after, request.after);
  for (std::int64_t r = 0; conversions > 0 && r < rows; ++r) fused.converted_rows.push_back(r * fused.shape.states);
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
  for (const std::optional<FusedTerm>* term : {&before, &after}) {
    if (!*term || !(*term)->converted) continue;
    memory.converted[*(*term)->converted] =
        layout.take(most * rows * shape.states * static_cast<std::int64_t>(size_of(shape.dtype)));
  }
  if (converts()) {
    memory.taken = layout.take<double>(most * rows);
    memory.sum = layout.take<double>(rows);
  }
  return memory;
}

kernels::Scan FusedScan::pack(std::span<const void* const> operands, const Memory& memory) const {
  return {shape, operands[matrix], matrix_stride[0], matrix_stride[1], memory.packed};
}

kernels::SliceTerm FusedScan::at(const std::optional<FusedTerm>& term, std::span<const void* const> operands,
                                 std::int64_t slice, std::int64_t direction, const Memory& memory) const {
  if (!term) return {};
  const std::int64_t size = static_cast<std::int64_t>(size_of(shape.dtype));
  if (term->converted) {
    const std::int64_t width = rows * shape.states;
    return {.data = memory.converted[*term->converted] + slice * width * size,
            .step_stride = direction * width,
            .row_offset = converted_rows.data()};
  }
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
  run.before = at(before, operands, slice, direction, memory);
  run.after = at(after, operands, slice, direction, memory);
  run.messages = stretch.message;
  run.offset = stretch.shift;
  run.steps = stretch.steps;
  run.trace = stretch.trace;
  run.lengths = stretch.lengths;
  run.first_step = stretch.origin + slice;
  run.direction = direction;
  if (stretch.lengths == nullptr && splits(stretch.steps)) {
    run_split(scan, run, memory, threads);
  } else {
    run_rows(scan, run, rows, memory, threads);
  }
  if (converts()) add_taken(stretch, memory);
}

void FusedScan::convert(std::span<const void* const> operands, std::int64_t count, const Memory& memory,
                        int threads) const {
  if (!converts() || count == 0) return;
  const bool smallest = shape.semiring == Semiring::min_plus;
  const std::int64_t width = rows * shape.states;
  const std::int64_t grain = std::max<std::int64_t>(1, converted_per_task / width);
  auto task = [&](std::int64_t t, int) {
    for (std::int64_t s = t * grain; s < std::min(count, (t + 1) * grain); ++s) {
      double* taken = memory.taken + s * rows;
      std::fill_n(taken, rows, 0.0);
      for (const std::optional<FusedTerm>* term : {&before, &after}) {
        if (!*term || !(*term)->converted) continue;
        const auto slice = [&](auto from, auto to) {
          using From = decltype(from);
          using To = decltype(to);
          convert_slice(smallest, **term,
                        static_cast<const From*>(operands[(*term)->operand]) + s * (*term)->slice_stride, rows,
                        shape.states, reinterpret_cast<To*>(memory.converted[*(*term)->converted]) + s * width, taken);
        };
        const bool narrow = shape.dtype == Dtype::float32;
        if ((*term)->dtype == Dtype::float32) {
          narrow ? slice(float{}, float{}) : slice(float{}, double{});
        } else {
          narrow ? slice(double{}, float{}) : slice(double{}, double{});
        }
      }
    }
  };
  parallel_for((count + grain - 1) / grain, threads, TaskRef(task));
}

void FusedScan::add_taken(const Stretch& stretch, const Memory& memory) const {
  std::fill_n(memory.sum, rows, 0.0);
  for (std::int64_t s = 0; s < stretch.steps; ++s) {
    const std::int64_t step = stretch.first + s;
    const std::int64_t slice = forward ? step : stretch.slices - 1 - step;
    for (std::int64_t r = 0; r < rows; ++r) {
      const bool exists = stretch.lengths == nullptr || stretch.origin + slice < stretch.lengths[r];
      if (exists) memory.sum[r] += memory.taken[slice * rows + r];
      if (stretch.trace.offsets != nullptr) {
        stretch.trace.offsets[s * stretch.trace.offset_step_stride + r] += memory.sum[r];
      }
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) stretch.shift[r] += memory.sum[r];
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
