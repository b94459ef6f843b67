// Finds the masses that a reverse sweep needs for what is asked of it, and the slices that each tells apart.
#include <algorithm>

#include "adjoint/reverse.hpp"

namespace plated::adjoint {

using base::intersect;
using base::subtract;
using base::unite;

void Reverse::want_operand(std::size_t operand, planner::Scale scale) {
  const ValueId target = writer_.add_output(writer_.schedule().operands[operand]);
  const ValueId value = operand_value_[operand];
  if (value == none) return;
  want(value);
  target_[value] = target;
  scale_[value] = std::move(scale);
}

void Reverse::want_messages(ValueId messages, ValueId answer) {
  activate(messages);
  tells_[messages].push_back(answer);
}

void Reverse::want(ValueId value) {
  wanted_[value] = true;
  activate(value);
}

void Reverse::activate(ValueId value) {
  spread_ = spread_ && active_[value];
  active_[value] = true;
}

bool Reverse::is_wanted(ValueId value) {
  if (!spread_) spread_activity();
  return active_[value];
}

/// Whatever is computed from a wanted value is needed, too.
void Reverse::spread_activity() {
  // Masses of a scan's slices come along its chain, from the mass of its last message.
  for (const Slices& slices : scans_.list()) {
    const Step& scan = writer_.schedule().steps[slices.scan];
    const bool asked = std::any_of(slices.steps.begin(), slices.steps.end(),
                                   [&](std::size_t s) { return active_[writer_.schedule().steps[s].output]; });
    if (asked) active_[scan.output] = active_[scan.as<planner::Scan>()->messages] = true;
  }
  for (std::size_t s = 0; s < forward_steps_; ++s) {
    const Step& step = writer_.schedule().steps[s];
    const bool reached = std::any_of(step.inputs.begin(), step.inputs.end(), [&](ValueId v) { return active_[v]; });
    if (!reached) continue;
    active_[step.output] = true;
    const auto* scan = step.as<planner::Scan>();
    if (scan != nullptr && scan->messages != none) active_[scan->messages] = true;
  }
  spread_ = true;
}

/// The slices that a mass distinguishes: those of its value's home that some later mass distinguishes.
void Reverse::spread_slices() {
  for (ValueId v = 0; v < slices_.size() && !options_.shared_by_all.empty(); ++v) {
    slices_[v] = subtract(options_.shared_by_all, writer_.dims(v));
  }
  if (options_.expand.empty()) return;
  const planner::Schedule& schedule = writer_.schedule();
  SortedSet batch;
  for (DimId d = 0; d < schedule.problem.kind.size(); ++d) {
    if (schedule.problem.kind[d] == DimKind::batch) batch.push_back(d);
  }
  std::vector<SortedSet> home(schedule.values.size());
  for (std::size_t f = 0; f < schedule.graph.factors().size(); ++f) {
    if (operand_value_[f] == none) continue;
    home[operand_value_[f]] = subtract(schedule.graph.factor_plates(f), schedule.problem.absent);
  }
  for (std::size_t s = 0; s < forward_steps_; ++s) {
    const Step& step = schedule.steps[s];
    home[step.output] = subtract(leaf_of(step), multiplied(step));
    if (const auto* scan = step.as<planner::Scan>()) {
      if (scan->messages != none) home[scan->messages] = home[step.output];
      std::erase(home[step.output], scan->chain);
    }
  }
  for (std::size_t s = forward_steps_; s-- > 0;) {
    const Step& step = schedule.steps[s];
    if (const Slices* slices = scans_.ended_by(s)) {
      // Its mass is that of messages along the chain.
      const Step& along = schedule.steps[slices->scan];
      const SortedSet apart = unite(slices_[along.output], slices_[along.as<planner::Scan>()->messages]);
      slices_[step.output] = unite(slices_[step.output], subtract(apart, writer_.dims(step.output)));
    }
    const SortedSet told_apart = intersect(options_.expand, unite(writer_.loops(step), slices_[step.output]));
    for (const ValueId v : step.inputs) {
      const SortedSet possible = intersect(told_apart, unite(batch, home[v]));
      slices_[v] = unite(slices_[v], subtract(possible, writer_.dims(v)));
    }
  }
}

}  // namespace plated::adjoint
