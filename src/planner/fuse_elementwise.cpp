// Folds elementwise products into the contraction that reads them: a three-way dot product needs no intermediate.
#include <algorithm>

#include "planner/elimination.hpp"
#include "planner/passes.hpp"

namespace plated::planner {
namespace {

/// More inputs than this would only make the inner loop longer than the memory traffic it saves.
constexpr std::size_t most_inputs = 8;

bool is_elementwise(const Step& step) {
  return step.is<Contract>() && summed(step).empty() && multiplied(step).empty() && !step.inputs.empty();
}

}  // namespace

void fuse_elementwise(Schedule& schedule) {
  std::vector<std::uint32_t> writer(schedule.values.size(), none);
  std::vector<std::uint32_t> readers(schedule.values.size(), 0);
  for (std::uint32_t s = 0; s < schedule.steps.size(); ++s) {
    writer[schedule.steps[s].output] = s;
    for (const ValueId v : schedule.steps[s].inputs) ++readers[v];
  }
  std::vector<bool> folded(schedule.steps.size(), false);
  for (Step& step : schedule.steps) {
    if (!step.is<Contract>()) continue;
    // Every element of the folded value must be used once: the loops of the reader are exactly its dims.
    const SortedSet loops = base::sorted(schedule.loops(step));
    for (std::size_t k = 0; k < step.inputs.size();) {
      const ValueId v = step.inputs[k];
      const std::uint32_t w = writer[v];
      const bool fits = w != none && !folded[w] && readers[v] == 1 && is_elementwise(schedule.steps[w]) &&
                        schedule.steps[w].as<Contract>()->semiring == step.as<Contract>()->semiring &&
                        schedule.steps[w].inputs.size() + step.inputs.size() - 1 <= most_inputs &&
                        base::sorted(schedule.values[v].dims) == loops;
      if (!fits) {
        ++k;
        continue;
      }
      folded[w] = true;
      step.inputs.erase(step.inputs.begin() + static_cast<std::ptrdiff_t>(k));
      step.inputs.insert(step.inputs.begin() + static_cast<std::ptrdiff_t>(k), schedule.steps[w].inputs.begin(),
                         schedule.steps[w].inputs.end());
    }
  }
  std::vector<Step> rest;
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    if (!folded[s]) rest.push_back(std::move(schedule.steps[s]));
  }
  schedule.steps = std::move(rest);
}

}  // namespace plated::planner
