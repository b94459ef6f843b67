// Finds steps whose kernels look at a whole operand, or vouch for a whole output.
#include "engine/looks.hpp"

namespace plated::engine {
namespace {

bool has_diagonal(const Factor& factor) { return base::sorted(factor.dims).size() < factor.dims.size(); }

/// Asks the kernels of a step: of the whole, or of its blocks.
template <class Ask>
bool all_kernels(const BoundSchedule& bound, const BoundStep& step, const Ask& ask) {
  if (step.scan != no_index) return false;
  if (!ask(bound.kernels[step.kernel])) return false;
  return step.in_blocks == no_index || ask(bound.kernels[bound.blocked[step.in_blocks].last_kernel]);
}

void find_looked_at(const std::vector<Factor>& factors, BoundSchedule& bound) {
  for (BoundStep& step : bound.steps) {
    if (step.inputs != 1) continue;
    const Place& place = bound.inputs(step)[0];
    if (place.space() != Place::Space::operand || place.at() >= factors.size()) continue;
    const bool looks = all_kernels(bound, step, [](const Kernel& kernel) { return kernel.looks_at_input(); });
    // Of a diagonal, only a part is read.
    if (!looks || has_diagonal(factors[place.at()])) continue;
    step.looks_at = static_cast<std::uint32_t>(place.at());
    bound.looked_at[place.at()] = true;
  }
}

/// Operands of steps that write outputs.
void find_shown_operands(const std::vector<Factor>& factors, BoundSchedule& bound) {
  for (const BoundStep& step : bound.steps) {
    if (bound.output(step).space() != Place::Space::output) continue;
    if (!all_kernels(bound, step, [](const Kernel& kernel) { return kernel.shows_inputs(); })) continue;
    for (const Place& place : bound.inputs(step)) {
      if (place.space() != Place::Space::operand || place.at() >= factors.size()) continue;
      if (!has_diagonal(factors[place.at()])) bound.shown[place.at()] = true;
    }
  }
}

/// Outputs that one step alone writes, and makes of nothing that has not been checked but what it looks at.
void find_shown(BoundSchedule& bound) {
  std::vector<std::size_t> writers(bound.outputs, 0);
  const auto output_of = [&](const BoundStep& step) {
    const Place& place = bound.output(step);
    return place.space() == Place::Space::output ? place.at() : bound.outputs;
  };
  for (const BoundStep& step : bound.steps) {
    if (output_of(step) < writers.size()) ++writers[output_of(step)];
  }
  for (BoundStep& step : bound.steps) {
    const std::size_t o = output_of(step);
    if (o >= writers.size() || writers[o] > 1) continue;
    const bool vouches = all_kernels(bound, step, [&](const Kernel& kernel) {
      const auto beside = kernel.vouches_beside();
      return beside && (*beside >= step.inputs || bound.inputs(step)[*beside].space() == Place::Space::operand);
    });
    if (vouches) step.shows = static_cast<std::uint32_t>(o);
  }
}

}  // namespace

void find_looks(const planner::Schedule& schedule, BoundSchedule& bound) {
  const std::vector<Factor>& factors = schedule.graph.factors();
  bound.looked_at.assign(factors.size(), false);
  bound.shown.assign(factors.size(), false);
  if (!bound.loops.empty()) return;
  find_looked_at(factors, bound);
  find_shown_operands(factors, bound);
  find_shown(bound);
}

}  // namespace plated::engine
