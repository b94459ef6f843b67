// Finds the steps of a slice that choices need.
#include "adjoint/traced_body.hpp"

#include <utility>

namespace plated::adjoint {

using planner::Step;
using planner::ValueId;

std::vector<bool> read_by_sums(const planner::Schedule& body, const std::vector<Step>& steps) {
  std::vector<bool> read(body.values.size(), false);
  std::vector<bool> computed(steps.size(), false);
  for (std::size_t s = steps.size(); s-- > 0;) {
    computed[s] = read[steps[s].output];
    for (const ValueId v : steps[s].inputs) read[v] = read[v] || computed[s] || !summed(steps[s]).empty();
  }
  return computed;
}

namespace {

/// Whether a sum's states are better chosen together with those of a sum that it reads: fewer are visited than it takes
/// to compute the other one for all states that it keeps. The number of samples must not matter.
bool chooses_together(const planner::Schedule& body, const Step& step, const Step& inner) {
  constexpr double work_of_choice = 4;  // of a state, which is gathered
  const auto states = [&](const auto& dims) {
    double product = 1;
    for (const DimId d : dims) {
      if (body.problem.kind[d] == DimKind::variable) product *= static_cast<double>(body.problem.domain[d]);
    }
    return product;
  };
  return work_of_choice * states(base::unite(summed(step), summed(inner))) <= states(body.loops(inner));
}

/// The steps of a body that choices need. Its sums read factors rather than their products and sums, where these are
/// not too many.
std::vector<Step> traced_steps(const planner::Schedule& body) {
  constexpr std::size_t most_inputs = 8;
  std::vector<Step> steps = body.steps;
  std::vector<Step*> written(body.values.size(), nullptr);
  std::vector<std::uint32_t> uses(body.values.size(), 0);
  for (const Step& step : steps) {
    for (const ValueId v : step.inputs) ++uses[v];
  }
  for (Step& step : steps) {
    for (std::size_t k = 0; k < step.inputs.size() && !summed(step).empty();) {
      const ValueId v = step.inputs[k];
      Step* factors = written[v];
      if (factors == nullptr || step.inputs.size() + factors->inputs.size() - 1 > most_inputs ||
          (!summed(*factors).empty() && (uses[v] > 1 || !chooses_together(body, step, *factors)))) {
        ++k;
        continue;
      }
      // In the order in which they are multiplied without: so are the bits.
      step.inputs.erase(step.inputs.begin() + static_cast<std::ptrdiff_t>(k));
      step.inputs.insert(step.inputs.begin(), factors->inputs.begin(), factors->inputs.end());
      k = 0;
      if (summed(*factors).empty()) continue;
      auto& contract = std::get<planner::Contract>(step.operation);
      contract.sum = base::unite(contract.sum, std::exchange(std::get<planner::Contract>(factors->operation).sum, {}));
    }
    const auto* contract = step.as<planner::Contract>();
    const bool has_factors = contract != nullptr && multiplied(step).empty() && !step.inputs.empty();
    if (has_factors) written[step.output] = &step;
  }
  const std::vector<bool> computed = read_by_sums(body, steps);
  std::size_t kept = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (!computed[s] && summed(steps[s]).empty()) continue;
    if (kept != s) steps[kept] = std::move(steps[s]);
    ++kept;
  }
  steps.resize(kept);
  return steps;
}

}  // namespace

planner::Schedule traced_body(const planner::Schedule& body) {
  planner::Schedule traced;
  traced.extents = body.extents;
  traced.problem = body.problem;
  traced.reuses_buffers = false;
  traced.operands = body.operands;
  traced.outputs = body.outputs;
  traced.values = body.values;
  traced.steps = traced_steps(body);
  return traced;
}

}  // namespace plated::adjoint
