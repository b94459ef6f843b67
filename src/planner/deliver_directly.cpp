// Makes the contraction that computes an output write it, where the last step would only copy.
#include "planner/elimination.hpp"
#include "planner/passes.hpp"

namespace plated::planner {

void deliver_directly(Schedule& schedule) {
  std::vector<std::uint32_t> writer(schedule.values.size(), none);
  std::vector<std::uint32_t> readers(schedule.values.size(), 0);
  for (std::uint32_t s = 0; s < schedule.steps.size(); ++s) {
    writer[schedule.steps[s].output] = s;
    for (const ValueId v : schedule.steps[s].inputs) ++readers[v];
  }
  std::vector<Step> kept;
  std::vector<bool> gone(schedule.steps.size(), false);
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    if (schedule.values[step.output].kind != Value::Kind::output || step.inputs.size() != 1 || !summed(step).empty())
      continue;
    const ValueId copied = step.inputs[0];
    const std::uint32_t w = writer[copied];
    const bool same_dims =
        base::sorted(schedule.values[copied].dims) == base::sorted(schedule.values[step.output].dims);
    if (w == none || readers[copied] != 1 || !same_dims || !schedule.steps[w].is<Contract>()) continue;
    schedule.steps[w].output = step.output;
    gone[s] = true;
  }
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    if (!gone[s]) kept.push_back(std::move(schedule.steps[s]));
  }
  schedule.steps = std::move(kept);
}

}  // namespace plated::planner
