// Runs the scans that pass masses back along hidden Markov models, and what they read once more where that fails.
#include "engine/bound_scan.hpp"

namespace plated::engine {

/// False where real space does not hold the messages: nothing has happened then.
bool BoundScan::smooth(const ScanRange& range, int threads) {
  places_.clear();
  for (const SmoothedPlace& place : smoothing->places) {
    places_.push_back({.to = {.data = place.answer ? answers[*place.answer].data : range.messages}});
  }
  const bool holds =
      smoothing->run(inputs,
                     {.there = {.steps = range.count, .lengths = own_.lengths, .first_step = range.first},
                      .linear = traced_ != nullptr,
                      .mass = reinterpret_cast<const double*>(own_.message[turn_]),
                      .first_mass = reinterpret_cast<double*>(own_.message[1 - turn_])},
                     places_, own_.smoothing, threads);
  if (holds) turn_ = 1 - turn_;
  return holds;
}

/// Has the messages that the range reads written once more, as numbers in place of real space.
void BoundScan::trace_again(const ScanRange& range, int threads) {
  const FusedScan &own = smoothing->there, &there = *traced_->fused;
  for (const auto& [to, from] : {std::pair{&there.before, &own.before}, std::pair{&there.after, &own.after}}) {
    if (*to) traced_->inputs[(*to)->operand] = inputs[(*from)->operand];
  }
  traced_->in_real_space_ = false;
  traced_->run_again({.first = range.first,
                      .count = range.count,
                      .block = range.block,
                      .messages = const_cast<void*>(inputs[smoothing->messages])},
                     threads);
  traced_->in_real_space_ = true;
}

}  // namespace plated::engine
