// Multiplies over plates while a factor is read at observed states: what is as large as all slices is never written.
#include "planner/passes.hpp"

namespace plated::planner {

void fuse_gathers(Schedule& schedule) {
  if (schedule.observations.empty()) return;
  std::vector<std::uint32_t> writer(schedule.values.size(), none);
  std::vector<std::uint32_t> readers(schedule.values.size(), 0);
  for (std::uint32_t s = 0; s < schedule.steps.size(); ++s) {
    if (schedule.steps[s].is<Gather>()) writer[schedule.steps[s].output] = s;
    for (const ValueId v : schedule.steps[s].inputs) ++readers[v];
  }
  std::vector<bool> gone(schedule.steps.size(), false);
  for (std::uint32_t s = 0; s < schedule.steps.size(); ++s) {
    const Step& step = schedule.steps[s];
    const auto* contract = step.as<Contract>();
    const bool only_multiplies = contract != nullptr && step.inputs.size() == 1 && contract->sum.empty() &&
                                 contract->power.plates.empty() && !contract->semiring;
    if (!only_multiplies || schedule.values[step.output].kind != Value::Kind::intermediate) continue;
    const std::uint32_t w = writer[step.inputs[0]];
    if (w == none || readers[step.inputs[0]] != 1) continue;
    auto& gather = std::get<Gather>(schedule.steps[w].operation);
    gather.product = base::unite(gather.product, contract->product);
    schedule.steps[w].output = step.output;
    writer[step.output] = w;
    gone[s] = true;
  }
  std::vector<Step> kept;
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    if (!gone[s]) kept.push_back(std::move(schedule.steps[s]));
  }
  schedule.steps = std::move(kept);
}

}  // namespace plated::planner
