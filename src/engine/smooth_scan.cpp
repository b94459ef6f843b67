// Runs the scans that pass masses back along hidden Markov models, and what they read once more where that fails.
#include <cstring>

#include "engine/bound_scan.hpp"

namespace plated::engine {

/// False where real space does not hold the messages: nothing has happened then.
bool BoundScan::smooth(const ScanRange& range, int threads) {
  places_.clear();
  for (const SmoothedPlace& place : smoothing->places) {
    places_.push_back({.to = {.data = place.answer ? answers[*place.answer].data : range.messages}});
  }
  const bool holds = smoothing->run(*smoother_,
                                    {.operands = inputs,
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
  auto* messages = const_cast<std::byte*>(static_cast<const std::byte*>(inputs[smoothing->messages]));
  const std::int64_t first = there.forward ? 0 : range.count - 1, size = traced_->message_bytes();
  std::memcpy(messages + first * size, traced_->checkpoint(range.block), static_cast<std::size_t>(size));
  if (range.count == 1) return;
  // What is left where the range ends is not read.
  std::memcpy(own_.smoothing.message, traced_->checkpoint(range.block), static_cast<std::size_t>(size));
  there.convert(inputs, range.count, memory, threads);
  there.run(there.pack(inputs, memory), inputs,
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
