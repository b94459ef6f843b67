// Runs a fused scan parallel in time: splits it into short parts, runs each from every state, multiplies the results.
#include <algorithm>

#include "engine/fused_scan.hpp"
#include "semiring/dispatch.hpp"

namespace plated::engine {

using planner::most_split_states;
using planner::time_parts;

template <class T>
void FusedScan::run_split(const kernels::ScanRun& whole, const Memory& memory, int threads) const {
  const std::int64_t states = shape.states, steps = whole.steps / time_parts;
  // All parts, each from so many messages.
  const auto run_parts = [&](std::int64_t repeats, T* messages, double* shifts, const kernels::ScanTrace& trace) {
    std::int64_t offsets[2][time_parts * most_split_states];
    kernels::ScanRun run = whole;
    run.steps = steps;
    run.messages = messages;
    run.offset = shifts;
    run.trace = trace;
    run.trace.messages.row_stride = steps * trace.messages.step_stride;
    run.trace.offsets.row_stride = steps * trace.offsets.step_stride;
    const auto spread = [&](kernels::SliceTerm& term, std::int64_t* to) {
      const std::int64_t own = term.row_offset != nullptr ? term.row_offset[0] : 0;
      for (std::int64_t k = 0; k < time_parts * repeats; ++k) to[k] = own + k / repeats * steps * term.step_stride;
      term.row_offset = to;
    };
    spread(run.before, offsets[0]);
    spread(run.after, offsets[1]);
    run_rows(run, time_parts * repeats, memory, threads);
  };

  T matrices[time_parts * most_split_states * most_split_states], starts[time_parts * most_split_states];
  double matrix_shifts[time_parts * most_split_states] = {}, start_shifts[time_parts];
  T* const message = static_cast<T*>(whole.messages);
  semiring::dispatch(shape.semiring, [&](auto ring) {
    using Ring = decltype(ring);
    for (std::int64_t k = 0; k < time_parts * states * states; ++k) {
      matrices[k] = static_cast<T>(k / states % states == k % states ? Ring::one() : Ring::zero());
    }
    run_parts(states, matrices, matrix_shifts, {});
    // The message before each part, one part after the other; the last one replaces the run's.
    for (std::int64_t part = 0; part < time_parts; ++part) {
      start_shifts[part] = whole.offset[0];
      std::copy_n(message, states, starts + part * states);
      double next[most_split_states], best = Ring::zero();
      for (std::int64_t b = 0; b < states; ++b) {
        next[b] = Ring::zero();
        for (std::int64_t a = 0; a < states; ++a) {
          const std::int64_t row = part * states + a;
          next[b] = Ring::add(next[b], static_cast<double>(message[a]) + matrix_shifts[row] +
                                           static_cast<double>(matrices[row * states + b]));
        }
        const bool better = shape.semiring == Semiring::min_plus ? next[b] < best : next[b] > best;
        if (better) best = next[b];
      }
      const double taken = best == Ring::zero() ? 0.0 : best;
      for (std::int64_t b = 0; b < states; ++b) message[b] = static_cast<T>(next[b] - taken);
      whole.offset[0] += taken;
    }
  });
  // The parts once more, now that it is known what each begins with.
  if (whole.trace.messages.data != nullptr) run_parts(1, starts, start_shifts, whole.trace);

  // What does not fill a step of each part.
  const std::int64_t done = time_parts * steps;
  kernels::ScanRun rest = whole;
  rest.steps = whole.steps - done;
  rest.before = whole.before.from(done);
  rest.after = whole.after.from(done);
  rest.trace.messages = whole.trace.messages.from(done);
  rest.trace.offsets = whole.trace.offsets.from(done);
  rest.first_step += done * whole.direction;
  if (rest.steps > 0) run_rows(rest, 1, memory, threads);
}

template void FusedScan::run_split<float>(const kernels::ScanRun&, const Memory&, int) const;
template void FusedScan::run_split<double>(const kernels::ScanRun&, const Memory&, int) const;

}  // namespace plated::engine
