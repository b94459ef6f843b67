// Runs scans.
#include "engine/bound_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "engine/best_of.hpp"
#include "kernels/exponentials.hpp"
#include "semiring/dispatch.hpp"
#include "tensor/numbers.hpp"

namespace plated::engine {

bool takes_shifts(Semiring semiring) {
  return semiring == Semiring::log || semiring == Semiring::max_plus || semiring == Semiring::min_plus;
}

Dtype message_dtype(Semiring semiring, Dtype element) { return takes_shifts(semiring) ? element : Dtype::float64; }

void BoundScan::smooths(std::shared_ptr<BoundScan> other) {
  other->in_real_space_ = true;
  traced_ = std::move(other);
}

void BoundScan::write_first(std::byte* message, double* shift) const {
  const auto [zero, one] = semiring::dispatch(semiring, [](auto ring) {
    return std::pair{decltype(ring)::zero(), decltype(ring)::one()};
  });
  const bool smallest = semiring == Semiring::min_plus;
  const auto entry = [&, zero = zero](std::int64_t r, std::int64_t k) {
    const auto row = static_cast<std::size_t>(r), state = static_cast<std::size_t>(k);
    for (const FirstMessage::Same& same : start.same) {
      if (r / same.row % same.extent != k / same.state % same.extent) return zero;
    }
    return tensor::number_at(start.dtype, inputs[0], start.row[row] + start.state[state]);
  };
  for (std::int64_t r = 0; r < rows; ++r) {
    double best = zero;
    for (std::int64_t k = 0; k < states && takes_shifts(semiring); ++k) {
      best = smallest ? std::min(best, entry(r, k)) : std::max(best, entry(r, k));
    }
    const bool takes = takes_shifts(semiring) && best != zero;
    shift[r] = takes ? best : one;
    for (std::int64_t k = 0; k < states; ++k)
      tensor::put_number(dtype, message, r * states + k, entry(r, k) - (takes ? best : 0));
  }
}

void BoundScan::find_lengths(std::int64_t* lengths) const {
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* there = static_cast<const double*>(inputs.back()) + present[static_cast<std::size_t>(r)];
    const auto exists = [&](std::int64_t slice) { return there[slice * present_step] != 0; };
    std::int64_t end = slices;
    for (lengths[r] = 0; lengths[r] < end;) {
      const std::int64_t middle = std::midpoint(lengths[r], end);
      exists(middle) ? lengths[r] = middle + 1 : end = middle;
    }
  }
}

void BoundScan::keep_shifts(const ScanRange& range, std::int64_t slice) const {
  if (range.shifts != nullptr) std::copy_n(own_.shift, rows, range.shifts + slice * rows);
}

void BoundScan::restore_absent(std::int64_t slice, Dtype type, const std::byte* before, std::byte* after) const {
  const std::size_t size = static_cast<std::size_t>(states) * size_of(type);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::size_t at = static_cast<std::size_t>(r) * size;
    if (slice >= own_.lengths[r]) std::memcpy(after + at, before + at, size);
  }
}

void BoundScan::begin(int threads) {
  base::ask_whether_wanted();
  MemoryLayout layout(memory_.get());
  own_ = arrays(layout, threads);
  turn_ = 0;
  write_first(own_.message[0], own_.shift);
  if (ragged) find_lengths(own_.lengths);
  if (fused) fused->pack(inputs, own_.fused);
  for (const ScanAnswer& answer : answers) {
    if (!answer.of_slices) std::fill_n(answer.total(), answer.elements, 0.0);
  }
  if (smoothing) smoothing->pack(inputs, own_.smoothing);
  smooths_ = smoothing.has_value();
  if (echo) std::copy_n(static_cast<const std::byte*>(inputs[*echo]), echo_bytes(), own_.echo);
}

void BoundScan::run(const ScanRange& range, int threads) {
  if (checkpoints != nullptr) {
    std::copy_n(own_.message[turn_], message_bytes(), checkpoint(range.block));
    std::copy_n(own_.shift, rows, checkpoint_shifts(range.block));
  }
  // Where it does not, the body is run from here on.
  smooths_ = smooths_ && smooth(range, threads);
  if (smooths_) return;
  if (traced_) trace_again(range, threads);
  go(range, threads);
}

void BoundScan::run_again(const ScanRange& range, int threads) {
  std::copy_n(checkpoint(range.block), message_bytes(), own_.message[turn_]);
  std::copy_n(checkpoint_shifts(range.block), rows, own_.shift);
  go(range, threads);
}

void BoundScan::go(const ScanRange& range, int threads) {
  fused ? run_fused(range, threads) : run_slices(range, threads);
}

void BoundScan::finish(double* output) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool shifted = takes_shifts(semiring);
  const std::byte* last = own_.message[turn_];
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = r * states; k < (r + 1) * states; ++k) {
      output[k] = tensor::number_at(dtype, last, k) + (shifted ? own_.shift[r] : 0.0);
    }
    // What has overflowed must not come out as a number, or as one that no maximum sees.
    if (!shifted || std::isfinite(own_.shift[r])) continue;
    std::fill_n(output + r * states, states, semiring == Semiring::min_plus ? -infinity : infinity);
  }
  if (!smoothing || !smoothing->matrix_answer) return;
  smoothing->add_pairs(own_.smoothing, answers[*smoothing->matrix_answer].total());
}

/// Messages are written where they are kept, if they are; the one after the range is the scan's own.
void BoundScan::run_slices(const ScanRange& range, int threads) {
  const std::int64_t size = message_bytes();
  auto* kept = static_cast<std::byte*>(range.messages);
  std::byte* message = own_.message[turn_];
  if (kept != nullptr && range.count > 0) {
    std::copy_n(message, size, kept + slice(range, 0) * size);
    message = kept + slice(range, 0) * size;
  }
  base::Pace pace;
  const std::int64_t work = 256 + rows * states;  // of a slice at least, in nanoseconds
  for (std::int64_t s = 0; s < range.count; ++s) {
    const base::PartOf part(s, range.count);
    if (pace.stops(work)) base::throw_if_stopped();
    const std::int64_t at = slice(range, s);
    keep_shifts(range, at);
    operands_.assign(1, message);
    for (std::size_t k = 1; k < advance.size(); ++k) {
      operands_.push_back(static_cast<const std::byte*>(inputs[k]) + at * advance[k]);
    }
    std::byte* after = nullptr;
    if (kept != nullptr && s + 1 < range.count) {
      after = kept + slice(range, s + 1) * size;
    } else {
      turn_ = 1 - turn_;
      after = own_.message[turn_];
    }
    outputs_.assign(1, after);
    double* share = own_.shares;
    for (const ScanAnswer& answer : answers) {
      outputs_.push_back(answer.of_slices ? answer.slice(at) : reinterpret_cast<std::byte*>(share));
      if (!answer.of_slices) share += answer.elements;
    }
    if (echo) outputs_.pop_back();
    run_prepared(body, outputs_, operands_, threads);
    if (echo) {
      if (ragged) restore_absent(range.first + at, Dtype::float64, own_.echo, answers.front().slice(at));
      std::copy_n(own_.echo, echo_bytes(), answers.back().slice(at));
      std::copy_n(answers.front().slice(at), echo_bytes(), own_.echo);
    }
    share = own_.shares;
    for (const ScanAnswer& answer : answers) {
      for (std::int64_t k = 0; !answer.of_slices && k < answer.elements; ++k) answer.total()[k] += *share++;
    }
    if (ragged) restore_absent(range.first + at, dtype, message, after);
    message = after;
    take_shift(message);
  }
}

/// Takes the best entry out of each row.
void BoundScan::take_shift(std::byte* message) const {
  if (!takes_shifts(semiring)) return;
  const bool smallest = semiring == Semiring::min_plus;
  tensor::of_type(dtype, [&]<class T>(T) {
    for (std::int64_t r = 0; r < rows && states > 0; ++r) {
      T* row = reinterpret_cast<T*>(message) + r * states;
      const T best = smallest ? best_of(row, states, [](T a, T b) { return a < b ? a : b; })
                              : best_of(row, states, [](T a, T b) { return a > b ? a : b; });
      if (!std::isfinite(best)) continue;  // nothing, or more than a number holds, which it stays
      for (std::int64_t k = 0; k < states; ++k) row[k] -= best;
      own_.shift[r] += static_cast<double>(best);
    }
  });
}

/// Where messages are kept, the last slice is a run of its own whether they are written or not: so are the bits.
void BoundScan::run_fused(const ScanRange& range, int threads) const {
  if (range.count == 0) return;
  fused->convert(inputs, range.count, own_.fused, threads);
  const auto run_steps = [&](std::int64_t first, std::int64_t steps, const kernels::ScanTrace& trace) {
    const std::int64_t at = slice(range, first);
    fused->run(inputs, at,
               {.messages = own_.message[0],
                .offset = own_.shift,
                .steps = steps,
                .trace = trace,
                .lengths = own_.lengths,
                .first_step = range.first + at},
               own_.fused, threads);
  };
  if (!keeps) return run_steps(0, range.count, {});
  kernels::ScanTrace trace;
  if (range.messages != nullptr) {
    const std::int64_t first = slice(range, 0);
    std::byte* message = static_cast<std::byte*>(range.messages) + first * message_bytes();
    if (in_real_space_) {
      kernels::write_exponentials(dtype, own_.message[0], rows * states, message);
    } else {
      std::copy_n(own_.message[0], message_bytes(), message);
    }
    keep_shifts(range, first);
    if (range.count > 1) trace = fused->trace(range.count, range.messages, range.shifts, in_real_space_);
  }
  run_steps(0, range.count - 1, trace);
  run_steps(range.count - 1, 1, {});
}

}  // namespace plated::engine
