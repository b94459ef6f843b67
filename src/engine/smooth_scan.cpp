// Runs the scans that pass masses back along hidden Markov models: sets smoothing up, and delivers what it gives.
#include <cstring>

#include "base/checked_size.hpp"
#include "engine/bound_scan.hpp"
#include "engine/scan_numbers.hpp"

namespace plated::engine {

void ScanAnswer::deliver(const double* total) const {
  const std::size_t axes = extent.size();
  const std::int64_t inner = axes == 0 ? 1 : extent.back();
  const std::int64_t step = axes == 0 ? 0 : stride.back();
  const std::int64_t count = base::checked_product(extent);
  for (std::int64_t k = 0; k < count; k += inner) {
    std::int64_t at = 0, rest = k / inner;
    for (std::size_t axis = axes; axis-- > 1; rest /= extent[axis - 1]) {
      at += rest % extent[axis - 1] * stride[axis - 1];
    }
    for (std::int64_t i = 0; i < inner; ++i) put_number(dtype, data, at + i * step, total[k + i]);
  }
}

/// False where real space does not hold the messages: nothing has happened then.
bool BoundScan::smooth(const ScanRange& range, int threads) {
  places_.clear();
  for (const SmoothedPlace& place : smoothing->places) {
    places_.push_back({.to = {.data = place.answer ? answers[*place.answer].data : range.messages}});
  }
  const bool holds = smoothing->run(*smoother_,
                                    {.operands = sliced(),
                                     .origin = range.first,
                                     .slices = range.count,
                                     .in_real_space = traced_ != nullptr,
                                     .lengths = own_.lengths,
                                     .mass = reinterpret_cast<const double*>(own_.message[turn_]),
                                     .left = reinterpret_cast<double*>(own_.message[1 - turn_]),
                                     .places = places_,
                                     .threads = threads},
                                    own_.smoothing);
  if (holds) turn_ = 1 - turn_;
  return holds;
}

/// Writes the messages that the range reads once more, as numbers in place of real space.
void BoundScan::trace_again(const ScanRange& range, int threads) const {
  if (range.count == 0) return;
  const FusedScan& there = smoothing->there;
  const FusedScan::Memory& memory = own_.smoothing.there;
  auto* messages = const_cast<std::byte*>(static_cast<const std::byte*>(sliced()[smoothing->messages]));
  const std::int64_t first = there.forward ? 0 : range.count - 1, size = traced_->message_bytes();
  std::memcpy(messages + first * size, traced_->checkpoint(range.block), static_cast<std::size_t>(size));
  if (range.count == 1) return;
  // What is left where the range ends is not read.
  std::memcpy(own_.smoothing.message, traced_->checkpoint(range.block), static_cast<std::size_t>(size));
  there.convert(sliced(), range.count, memory, threads);
  there.run(there.pack(sliced(), memory), sliced(),
            {.origin = range.first,
             .slice = first,
             .steps = range.count - 1,
             .message = own_.smoothing.message,
             .shift = own_.smoothing.shift,
             .lengths = own_.lengths,
             .trace = there.trace(range.count, messages, nullptr, false)},
            memory, threads);
}

}  // namespace plated::engine
