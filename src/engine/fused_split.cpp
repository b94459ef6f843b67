// Runs a fused scan parallel in time: splits it into short parts, runs each from every state, multiplies the results.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/fused_scan.hpp"

namespace plated::engine {
namespace {

using planner::time_parts;

double zero_of_sums(Semiring semiring) {
  const double infinity = std::numeric_limits<double>::infinity();
  return semiring == Semiring::min_plus ? infinity : -infinity;
}

/// A message that goes through the matrix of a part: row s is the result of starting in state s.
template <class T>
void multiply_by_part(Semiring semiring, std::span<double> message, std::span<double> next, double& shift,
                      const T* matrix, const double* row_shift) {
  const std::size_t states = message.size();
  const double zero = zero_of_sums(semiring);
  const auto better = [&](double x, double y) {
    return semiring == Semiring::min_plus ? std::min(x, y) : std::max(x, y);
  };
  for (std::size_t b = 0; b < states; ++b) {
    double best = zero;
    const auto term = [&](std::size_t a) {
      return message[a] + row_shift[a] + static_cast<double>(matrix[a * states + b]);
    };
    for (std::size_t a = 0; a < states; ++a) best = better(best, term(a));
    next[b] = best;
    if (semiring != Semiring::log || best == zero) continue;
    double sum = 0;
    for (std::size_t a = 0; a < states; ++a) sum += std::exp(term(a) - best);
    next[b] += std::log(sum);
  }
  double best = zero;
  for (const double x : next) best = better(best, x);
  const bool possible = best != zero;
  for (std::size_t b = 0; b < states; ++b) message[b] = possible ? next[b] - best : next[b];
  if (possible) shift += best;
}

/// The arrays that a split needs.
struct SplitMemory {
  SplitMemory(MemoryLayout& layout, const FusedScan& scan) {
    const std::int64_t states = scan.shape.states;
    const auto size = static_cast<std::int64_t>(size_of(scan.shape.dtype));
    const std::int64_t rows = time_parts * scan.rows;
    matrices = layout.take(rows * states * states * size);
    matrix_shift = layout.take<double>(rows * states);
    before = layout.take<std::int64_t>(rows * states);
    after = layout.take<std::int64_t>(rows * states);
    starts = layout.take(rows * states * size);
    start_shift = layout.take<double>(rows);
    message_at = layout.take<std::int64_t>(rows);
    shift_at = layout.take<std::int64_t>(rows);
    message = layout.take<double>(states);
    next = layout.take<double>(states);
  }
  std::byte* matrices;
  double* matrix_shift;
  std::int64_t *before, *after;  // where rows of parts begin
  std::byte* starts;             // the message before each part
  double* start_shift;
  std::int64_t *message_at, *shift_at;
  double *message, *next;
};

/// A term's row offsets, repeated for each part, its steps further on.
void spread(const kernels::SliceTerm& term, std::int64_t rows, std::int64_t repeats, std::int64_t steps,
            std::int64_t* to) {
  for (std::int64_t part = 0; part < time_parts; ++part) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t own = term.row_offset != nullptr ? term.row_offset[r] : 0;
      to = std::fill_n(to, repeats, own + part * steps * term.step_stride);
    }
  }
}

/// The message before each part, one part after the other; the last one replaces the run's.
template <class T>
void join_parts(const FusedScan& scan, const kernels::ScanRun& whole, const SplitMemory& memory) {
  const std::int64_t states = scan.shape.states;
  const std::span<double> message(memory.message, static_cast<std::size_t>(states));
  const std::span<double> next(memory.next, static_cast<std::size_t>(states));
  for (std::int64_t r = 0; r < scan.rows; ++r) {
    T* own = static_cast<T*>(whole.messages) + r * states;
    std::copy_n(own, states, message.begin());
    for (std::int64_t part = 0; part < time_parts; ++part) {
      const std::int64_t row = part * scan.rows + r;
      memory.start_shift[row] = whole.offset[r];
      std::copy_n(message.begin(), states, reinterpret_cast<T*>(memory.starts) + row * states);
      multiply_by_part(scan.shape.semiring, message, next, whole.offset[r],
                       reinterpret_cast<const T*>(memory.matrices) + row * states * states,
                       memory.matrix_shift + row * states);
    }
    std::copy_n(message.begin(), states, own);
  }
}

template <class T>
void fill_identities(Semiring semiring, std::int64_t states, std::int64_t rows, std::byte* matrices) {
  auto* entries = reinterpret_cast<T*>(matrices);
  for (std::int64_t k = 0; k < rows * states; ++k) {
    entries[k] = static_cast<T>(k / states % states == k % states ? 0.0 : zero_of_sums(semiring));
  }
}

}  // namespace

bool FusedScan::splits(std::int64_t steps) const { return planner::splits_time(rows, shape.states, steps); }

std::int64_t FusedScan::split_bytes() const {
  MemoryLayout count;
  (void)SplitMemory(count, *this);
  return count.bytes();
}

void FusedScan::run_split(const kernels::Scan& scan, const kernels::ScanRun& whole, const Memory& memory,
                          int threads) const {
  MemoryLayout layout(memory.split);
  const SplitMemory own(layout, *this);
  const bool narrow = shape.dtype == Dtype::float32;
  const std::int64_t steps = whole.steps / time_parts;
  const std::int64_t matrix_rows = time_parts * rows * shape.states;
  const auto parts_of = [&](std::int64_t repeats) {
    kernels::ScanRun run = whole;
    run.steps = steps;
    spread(whole.before, rows, repeats, steps, own.before);
    spread(whole.after, rows, repeats, steps, own.after);
    run.before.row_offset = own.before;
    run.after.row_offset = own.after;
    return run;
  };

  // Every part from every state.
  (narrow ? fill_identities<float> : fill_identities<double>)(shape.semiring, shape.states, matrix_rows, own.matrices);
  std::fill_n(own.matrix_shift, matrix_rows, 0.0);
  kernels::ScanRun products = parts_of(shape.states);
  products.messages = own.matrices;
  products.offset = own.matrix_shift;
  products.trace = {};
  run_rows(scan, products, matrix_rows, steps, memory, threads);
  (narrow ? join_parts<float> : join_parts<double>)(*this, whole, own);

  if (whole.trace.messages != nullptr) {
    // The parts once more, now that it is known what each begins with.
    kernels::ScanRun traced = parts_of(1);
    traced.messages = own.starts;
    traced.offset = own.start_shift;
    for (std::int64_t part = 0; part < time_parts; ++part) {
      for (std::int64_t r = 0; r < rows; ++r) {
        own.message_at[part * rows + r] = part * steps * whole.trace.step_stride + r * shape.states;
        own.shift_at[part * rows + r] = part * steps * whole.trace.offset_step_stride + r;
      }
    }
    traced.trace.row_offset = own.message_at;
    traced.trace.offset_row_offset = own.shift_at;
    run_rows(scan, traced, time_parts * rows, steps, memory, threads);
  }

  // What does not fill a step of each part.
  run_rows(scan, later(whole, time_parts * steps), rows, time_parts, memory, threads);
}

}  // namespace plated::engine
