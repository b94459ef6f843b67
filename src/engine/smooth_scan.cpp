// Runs the scans that pass masses back along hidden Markov models: sets smoothing up, and delivers what it gives.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked_size.hpp"
#include "engine/bound_scan.hpp"
#include "engine/scan_numbers.hpp"

namespace plated::engine {

/// What returns first: the mass of the last message, without what the message itself brings.
bool BoundScan::begin_smoothing() {
  const FusedSmoothing::Memory& memory = own_.smoothing;
  const Dtype type = smoothing->there.shape.dtype;
  const auto* last = static_cast<const double*>(inputs[smoothing->last]);
  const double infinity = std::numeric_limits<double>::infinity();
  for (std::int64_t r = 0; r < rows; ++r) {
    double best = -infinity, largest = -infinity;
    memory.weight[r] = 0;
    const auto mass_of = [&](std::int64_t k) {
      return number_at(start.dtype, inputs[0],
                       start.row[static_cast<std::size_t>(r)] + start.state[static_cast<std::size_t>(k)]);
    };
    const auto log_of = [&](std::int64_t k) {
      const double mass = mass_of(k);
      return mass > 0 ? std::log(mass) - last[r * states + k] : -infinity;
    };
    for (std::int64_t k = 0; k < states; ++k) {
      if (!(mass_of(k) >= 0)) return false;
      memory.weight[r] += mass_of(k);
      best = std::max(best, log_of(k));
      largest = std::max(largest, last[r * states + k]);
    }
    if (!(best < infinity && memory.weight[r] < infinity)) return false;
    const double taken = best == -infinity ? 0.0 : best;
    for (std::int64_t k = 0; k < states; ++k) {
      put_number(type, memory.message, r * states + k, log_of(k) - taken);
      const double met = largest == -infinity ? 0.0 : std::exp(last[r * states + k] - largest);
      put_number(type, memory.edge, r * states + k, met);
    }
  }
  std::fill_n(memory.shift, rows, 0.0);
  if (smoothing->matrix_answer) std::fill_n(memory.pairs, states * states, 0.0);
  smoother_.emplace(smoothing->pack(inputs, memory));
  return true;
}

bool BoundScan::smooth(const ScanRange& range, int threads) {
  const FusedSmoothing::Memory& arrays = own_.smoothing;
  const std::size_t size = static_cast<std::size_t>(rows * states) * size_of(smoothing->there.shape.dtype);
  places_.clear();
  for (const SmoothedPlace& place : smoothing->places) {
    places_.push_back(place.answer ? answers[*place.answer].data : range.messages);
  }
  const FusedSmoothing::Run run{.operands = inputs,
                                .origin = range.first,
                                .slices = range.count,
                                .in_real_space = traced_ != nullptr,
                                .lengths = own_.lengths,
                                .data = places_,
                                .threads = threads};
  smoothing->back.convert(inputs, range.count, arrays.back, threads);
  bool holds = smoothing->run(*smoother_, run, arrays);
  // The message before the range on the way there.
  const std::int64_t first = slice(range, range.count - 1);
  const auto* messages = static_cast<const std::byte*>(inputs[smoothing->messages]);
  const std::byte* numbers =
      traced_ ? traced_->checkpoint(range.block) : messages + static_cast<std::size_t>(first) * size;
  const bool is_last = forward ? range.first + range.count == slices : range.first == 0;
  if (holds && is_last) holds = write_masses(numbers);
  if (!holds) {
    std::memcpy(arrays.message, arrays.before, size);
    return false;
  }
  std::memcpy(arrays.edge_numbers, numbers, size);
  smoothing->copy_messages(run, first, 1, arrays.edge);
  if (smoothing->matrix_answer) smoothing->keep_pairs(arrays);
  has_smoothed_ = true;
  return true;
}

/// Of the states where what returns meets a message: shares of each row's mass. False where a row has lost its mass.
bool BoundScan::write_masses(const std::byte* numbers) {
  const FusedSmoothing::Memory& arrays = own_.smoothing;
  const Dtype type = smoothing->there.shape.dtype;
  const double infinity = std::numeric_limits<double>::infinity();
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto met = [&](std::int64_t k) { return number_at(type, numbers, k) + number_at(type, arrays.message, k); };
    double best = -infinity, sum = 0;
    for (std::int64_t k = r * states; k < (r + 1) * states; ++k) best = std::max(best, met(k));
    if (best == -infinity && arrays.weight[r] > 0) return false;
    const auto share = [&](std::int64_t k) { return best == -infinity ? 0.0 : std::exp(met(k) - best); };
    for (std::int64_t k = r * states; k < (r + 1) * states; ++k) sum += share(k);
    for (std::int64_t k = r * states; k < (r + 1) * states; ++k) {
      put_number(dtype, own_.message[turn_], k, sum > 0 ? arrays.weight[r] * (share(k) / sum) : 0.0);
    }
  }
  return true;
}

/// From here on the body is run, from the masses where the range begins.
void BoundScan::stop_smoothing() {
  smooths_ = false;
  if (has_smoothed_) (void)write_masses(own_.smoothing.edge_numbers);
}

/// Writes the messages that the range reads once more, as numbers in place of real space.
void BoundScan::trace_again(const ScanRange& range, int threads) const {
  if (range.count == 0) return;
  const FusedScan& there = smoothing->there;
  const FusedSmoothing::Memory& arrays = own_.smoothing;
  const std::size_t size = static_cast<std::size_t>(rows * states) * size_of(there.shape.dtype);
  auto* messages = const_cast<std::byte*>(static_cast<const std::byte*>(inputs[smoothing->messages]));
  std::memcpy(arrays.before, traced_->checkpoint(range.block), size);
  std::memcpy(messages + static_cast<std::size_t>(there.forward ? 0 : range.count - 1) * size, arrays.before, size);
  if (range.count == 1) return;
  there.convert(inputs, range.count, arrays.back, threads);
  there.run(there.pack(inputs, arrays.back), inputs,
            {.origin = range.first,
             .slice = there.forward ? 0 : range.count - 1,
             .steps = range.count - 1,
             .message = arrays.before,
             .shift = arrays.shift,
             .lengths = own_.lengths,
             .trace = there.trace(range.count, messages, nullptr, false)},
            arrays.back, threads);
}

}  // namespace plated::engine
