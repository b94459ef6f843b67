// Runs a fused scan parallel in time: splits it into short parts, runs each from every state, multiplies the results.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/fused_scan.hpp"

namespace plated::engine {
namespace {

using planner::most_split_states;
using planner::time_parts;

double zero_of_sums(Semiring semiring) {
  const double infinity = std::numeric_limits<double>::infinity();
  return semiring == Semiring::min_plus ? infinity : -infinity;
}

/// A message that goes through the matrix of a part: row s is the result of starting in state s.
template <class T>
void multiply_by_part(Semiring semiring, std::span<double> message, double& shift, const T* matrix,
                      const double* row_shift) {
  const std::size_t states = message.size();
  const double zero = zero_of_sums(semiring);
  const auto better = [&](double x, double y) {
    return semiring == Semiring::min_plus ? std::min(x, y) : std::max(x, y);
  };
  double next[most_split_states], best_of_all = zero;
  for (std::size_t b = 0; b < states; ++b) {
    double best = zero;
    const auto term = [&](std::size_t a) {
      return message[a] + row_shift[a] + static_cast<double>(matrix[a * states + b]);
    };
    for (std::size_t a = 0; a < states; ++a) best = better(best, term(a));
    next[b] = best;
    if (semiring == Semiring::log && best != zero) {
      double sum = 0;
      for (std::size_t a = 0; a < states; ++a) sum += std::exp(term(a) - best);
      next[b] += std::log(sum);
    }
    best_of_all = better(best_of_all, next[b]);
  }
  const double taken = best_of_all != zero ? best_of_all : 0.0;
  for (std::size_t b = 0; b < states; ++b) message[b] = next[b] - taken;
  shift += taken;
}

}  // namespace

template <class T>
void FusedScan::run_split(const kernels::Scan& scan, const kernels::ScanRun& whole, const Memory& memory,
                          int threads) const {
  const std::int64_t states = shape.states, steps = whole.steps / time_parts, rows_of_parts = time_parts * states;
  std::int64_t before_at[time_parts * most_split_states], after_at[time_parts * most_split_states];
  const auto parts_of = [&](std::int64_t repeats) {
    kernels::ScanRun run = whole;
    run.steps = steps;
    const auto spread = [&](kernels::SliceTerm& term, std::int64_t* at) {
      const std::int64_t own = term.row_offset != nullptr ? term.row_offset[0] : 0;
      for (std::int64_t k = 0; k < time_parts * repeats; ++k) at[k] = own + k / repeats * steps * term.step_stride;
      term.row_offset = at;
    };
    spread(run.before, before_at);
    spread(run.after, after_at);
    return run;
  };

  // Every part from every state.
  T matrices[time_parts * most_split_states * most_split_states];
  double matrix_shift[time_parts * most_split_states] = {};
  for (std::int64_t k = 0; k < rows_of_parts * states; ++k) {
    matrices[k] = static_cast<T>(k / states % states == k % states ? 0.0 : zero_of_sums(shape.semiring));
  }
  kernels::ScanRun products = parts_of(states);
  products.messages = matrices;
  products.offset = matrix_shift;
  products.trace = {};
  run_rows(scan, products, rows_of_parts, memory, threads);

  // The message before each part, one part after the other; the last one replaces the run's.
  T starts[time_parts * most_split_states];
  double start_shift[time_parts], message[most_split_states];
  T* own = static_cast<T*>(whole.messages);
  std::copy_n(own, states, message);
  for (std::int64_t part = 0; part < time_parts; ++part) {
    start_shift[part] = whole.offset[0];
    std::copy_n(message, states, starts + part * states);
    multiply_by_part(shape.semiring, std::span(message, static_cast<std::size_t>(states)), whole.offset[0],
                     matrices + part * states * states, matrix_shift + part * states);
  }
  std::copy_n(message, states, own);

  if (whole.trace.messages.data != nullptr) {
    // The parts once more, now that it is known what each begins with.
    kernels::ScanRun traced = parts_of(1);
    traced.messages = starts;
    traced.offset = start_shift;
    for (kernels::SlicePlace* place : {&traced.trace.messages, &traced.trace.offsets}) {
      place->row_stride = steps * place->step_stride;
    }
    run_rows(scan, traced, time_parts, memory, threads);
  }

  // What does not fill a step of each part.
  const std::int64_t done = time_parts * steps;
  kernels::ScanRun rest = whole;
  rest.steps = whole.steps - done;
  rest.before = whole.before.from(done);
  rest.after = whole.after.from(done);
  rest.trace.messages = whole.trace.messages.from(done);
  rest.trace.offsets = whole.trace.offsets.from(done);
  rest.first_step += done * whole.direction;
  if (rest.steps > 0) run_rows(scan, rest, 1, memory, threads);
}

template void FusedScan::run_split<float>(const kernels::Scan&, const kernels::ScanRun&, const Memory&, int) const;
template void FusedScan::run_split<double>(const kernels::Scan&, const kernels::ScanRun&, const Memory&, int) const;

}  // namespace plated::engine
