// Runs scans.
#include "engine/bound_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "engine/recursion.hpp"
#include "engine/scan_numbers.hpp"
#include "semiring/dispatch.hpp"

namespace plated::engine {
bool takes_shifts(Semiring semiring) { return carries_offset(semiring); }

Dtype message_dtype(Semiring semiring, Dtype element) { return takes_shifts(semiring) ? element : Dtype::float64; }

std::int64_t BoundScan::message_bytes() const {
  return base::checked_product(base::checked_product(rows, states), static_cast<std::int64_t>(size_of(dtype)));
}

BoundScan::Arrays BoundScan::arrays(MemoryLayout& layout, int threads) const {
  Arrays own{};
  own.message[0] = layout.take(message_bytes());
  if (!fused) own.message[1] = layout.take(message_bytes());
  own.shift = layout.take<double>(rows);
  if ((fused || smoothing) && ragged) own.lengths = layout.take<std::int64_t>(rows);
  if (fused) own.fused = fused->take(layout, threads);
  if (in_real_space_) own.first = layout.take(message_bytes());
  if (smoothing) own.smoothing = smoothing->take(layout, threads);
  if (!fused) {
    for (double*& totals : own.totals) totals = layout.take<double>(total_elements());
  }
  return own;
}

std::int64_t BoundScan::table_bytes() const {
  std::size_t entries = start.row.size() + start.state.size() + present.size();
  for (const FirstMessage::Same& same : start.same) entries += same.row.size() + same.state.size();
  const auto add = [&](const FusedScan& scan) {
    if (scan.before) entries += scan.before->row_offset.size();
    if (scan.after) entries += scan.after->row_offset.size();
  };
  if (fused) add(*fused);
  if (smoothing) {
    add(smoothing->there);
    add(smoothing->back);
    for (const SmoothedPlace& place : smoothing->places) entries += place.row_offset.size();
  }
  return static_cast<std::int64_t>(entries * sizeof(std::int64_t));
}

std::int64_t BoundScan::bytes(int threads) const {
  MemoryLayout count;
  (void)arrays(count, threads);
  return base::checked_sum(base::checked_sum(count.bytes(), table_bytes()), body.bound.bytes(threads));
}

std::int64_t BoundScan::held_bytes() const { return memory_bytes_ + table_bytes() + body.bytes(); }

void BoundScan::take_memory(int threads) {
  engine::take_memory(body, threads);
  MemoryLayout count;
  (void)arrays(count, threads);
  if (count.bytes() <= memory_bytes_) return;
  memory_.reset();
  memory_bytes_ = 0;
  memory_.reset(base::allocate_aligned(static_cast<std::size_t>(count.bytes())));
  memory_bytes_ = count.bytes();
}

/// Of the answers that are sums over the slices.
std::int64_t BoundScan::total_elements() const {
  std::int64_t sum = 0;
  for (const ScanAnswer& answer : answers) sum += answer.of_slices ? 0 : base::checked_product(answer.extent);
  return sum;
}

void BoundScan::smooths(std::shared_ptr<BoundScan> other) {
  other->in_real_space_ = true;
  traced_ = std::move(other);
}

void BoundScan::write_first(std::byte* message, double* shift) const {
  const auto [zero, one] = semiring::dispatch(semiring, [](auto ring) {
    return std::pair{decltype(ring)::zero(), decltype(ring)::one()};
  });
  const bool smallest = semiring == Semiring::min_plus;
  const auto entry = [&, zero = zero, one = one](std::int64_t r, std::int64_t k) {
    const auto row = static_cast<std::size_t>(r), state = static_cast<std::size_t>(k);
    for (const FirstMessage::Same& same : start.same) {
      if (same.row[row] != same.state[state]) return zero;
    }
    return start.is_given ? number_at(start.dtype, inputs[0], start.row[row] + start.state[state]) : one;
  };
  for (std::int64_t r = 0; r < rows; ++r) {
    double best = zero;
    for (std::int64_t k = 0; k < states && takes_shifts(semiring); ++k) {
      best = smallest ? std::min(best, entry(r, k)) : std::max(best, entry(r, k));
    }
    shift[r] = takes_shifts(semiring) && best != zero ? best : 0.0;
    for (std::int64_t k = 0; k < states; ++k) put_number(dtype, message, r * states + k, entry(r, k) - shift[r]);
  }
}

void BoundScan::find_lengths(std::int64_t* lengths) const {
  const auto* exists = static_cast<const double*>(inputs[start.is_given ? 1 : 0]);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t present_slices = 0, absent = slices;
    while (present_slices < absent) {
      const std::int64_t middle = (present_slices + absent) / 2;
      const bool is_there = exists[present[static_cast<std::size_t>(r)] + middle * present_step] != 0;
      (is_there ? present_slices : absent) = is_there ? middle + 1 : middle;
    }
    lengths[r] = present_slices;
  }
}

void BoundScan::keep_shifts(const ScanMemory& memory, std::int64_t slice, const double* shift) const {
  if (memory.shifts == nullptr) return;
  if (takes_shifts(semiring)) {
    std::copy_n(shift, rows, memory.shifts + slice * rows);
  } else {
    const double one = semiring::dispatch(semiring, [](auto ring) { return decltype(ring)::one(); });
    std::fill_n(memory.shifts + slice * rows, rows, one);
  }
}

void BoundScan::restore_absent(std::int64_t slice, const std::byte* before, std::byte* after) const {
  const auto* exists = static_cast<const double*>(inputs[start.is_given ? 1 : 0]);
  const std::size_t size = static_cast<std::size_t>(states) * size_of(dtype);
  for (std::int64_t r = 0; r < rows; ++r) {
    if (exists[present[static_cast<std::size_t>(r)] + slice * present_step] != 0) continue;
    const std::size_t at = static_cast<std::size_t>(r) * size;
    std::memcpy(after + at, before + at, size);
  }
}

void BoundScan::run(const ScanMemory& memory, int threads) {
  MemoryLayout layout(memory_.get());
  const Arrays own = arrays(layout, threads);
  if (smoothing && slices > 0) {
    if (run_smoothing(memory, own, threads)) return;
    // Once more in logarithms.
    if (traced_) traced_->trace_again(const_cast<void*>(sliced()[smoothing->messages]), threads);
  }
  const std::byte* last = fused ? run_fused(memory, own, threads) : run_slices(memory, own, threads);
  const bool shifted = takes_shifts(semiring);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = r * states; k < (r + 1) * states; ++k) {
      memory.output[k] = number_at(dtype, last, k) + (shifted ? own.shift[r] : 0.0);
    }
  }
}

/// Messages are written where they are kept, if they are: slot by slot of `memory`.
const std::byte* BoundScan::run_slices(const ScanMemory& memory, const Arrays& own, int threads) {
  const std::int64_t size = message_bytes();
  const auto place = [&](std::int64_t step) {
    if (memory.messages == nullptr || step == slices) return own.message[step % 2];
    return static_cast<std::byte*>(memory.messages) + slice(step) * size;
  };
  std::byte* message = place(0);
  write_first(message, own.shift);
  const std::span<const void* const> values = sliced();
  std::fill_n(own.totals[1], total_elements(), 0.0);
  base::Pace pace;
  const std::int64_t work = 256 + rows * states;  // of a slice at least, in nanoseconds
  for (std::int64_t s = 0; s < slices; ++s) {
    const base::PartOf part(s, slices);
    if (pace.stops(work)) base::throw_if_stopped();
    keep_shifts(memory, slice(s), own.shift);
    operands.clear();
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (k == operand) operands.push_back(message);
      operands.push_back(static_cast<const std::byte*>(values[k]) + slice(s) * advance[k]);
    }
    if (operand == values.size()) operands.push_back(message);
    std::byte* after = place(s + 1);
    outputs_.assign(1, after);
    double* total = own.totals[0];
    for (const ScanAnswer& answer : answers) {
      if (answer.of_slices) {
        outputs_.push_back(static_cast<std::byte*>(answer.data) +
                           slice(s) * answer.slice_stride * static_cast<std::int64_t>(size_of(answer.dtype)));
      } else {
        outputs_.push_back(total);
        total += base::checked_product(answer.extent);
      }
    }
    run_prepared(body, outputs_, operands, threads);
    for (std::int64_t k = 0; k < total - own.totals[0]; ++k) own.totals[1][k] += own.totals[0][k];
    if (ragged) restore_absent(slice(s), message, after);
    message = after;
    normalise(semiring, dtype, message, own.shift, rows, states);
  }
  const double* total = own.totals[1];
  for (const ScanAnswer& answer : answers) {
    if (answer.of_slices) continue;
    answer.deliver(total);
    total += base::checked_product(answer.extent);
  }
  return message;
}

const std::byte* BoundScan::run_fused(const ScanMemory& memory, const Arrays& own, int threads) const {
  base::ask_whether_wanted();
  write_first(own.message[0], own.shift);
  if (ragged) find_lengths(own.lengths);
  const kernels::Scan scan = fused->pack(sliced(), own.fused);
  FusedScan::Stretch rest{.steps = slices, .message = own.message[0], .shift = own.shift, .lengths = own.lengths};
  if (memory.messages != nullptr && slices > 0) {
    if (in_real_space_) std::memcpy(own.first, own.message[0], static_cast<std::size_t>(message_bytes()));
    trace(scan, memory, own, in_real_space_, threads);
    rest.first = slices - 1;
    rest.steps = 1;
  }
  fused->run(scan, sliced(), rest, own.fused, threads);
  return own.message[0];
}

/// The message before each slice: the first one, then what each slice but the last leaves.
void BoundScan::trace(const kernels::Scan& scan, const ScanMemory& memory, const Arrays& own, bool in_real_space,
                      int threads) const {
  const std::int64_t size = message_bytes();
  const std::int64_t direction = forward ? 1 : -1;
  auto* messages = static_cast<std::byte*>(memory.messages) + slice(0) * size;
  double* shifts = memory.shifts != nullptr && !in_real_space ? memory.shifts + slice(0) * rows : nullptr;
  if (in_real_space) {
    write_exponentials(dtype, own.message[0], rows * states, messages);
  } else {
    std::memcpy(messages, own.message[0], static_cast<std::size_t>(size));
  }
  if (shifts != nullptr) std::copy_n(own.shift, rows, shifts);
  fused->run(scan, sliced(),
             {.steps = slices - 1,
              .message = own.message[0],
              .shift = own.shift,
              .lengths = own.lengths,
              .trace = {.messages = messages + direction * size,
                        .step_stride = direction * rows * states,
                        .offsets = shifts != nullptr ? shifts + direction * rows : nullptr,
                        .offset_step_stride = direction * rows,
                        .linear = in_real_space}},
             own.fused, threads);
}

void BoundScan::trace_again(void* messages, int threads) const {
  MemoryLayout layout(memory_.get());
  const Arrays own = arrays(layout, threads);
  std::memcpy(own.message[0], own.first, static_cast<std::size_t>(message_bytes()));
  trace(fused->pack(sliced(), own.fused), {.messages = messages}, own, false, threads);
}

}  // namespace plated::engine
