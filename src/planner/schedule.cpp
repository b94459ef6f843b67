// Answers what several passes ask of a step, whatever its kind.
#include "planner/schedule.hpp"

#include "base/overloaded.hpp"

namespace plated::planner {
namespace {

const SortedSet nothing;

}  // namespace

const SortedSet& summed(const Step& step) {
  using Set = const SortedSet&;
  return std::visit(base::Overloaded{[](const Contract& contract) -> Set { return contract.sum; },
                                     [](const Weigh& weigh) -> Set { return weigh.sum; },
                                     [](const LeaveOneOut&) -> Set { return nothing; },
                                     [](const LogMass&) -> Set { return nothing; }},
                    step.operation);
}

SortedSet multiplied(const Step& step) {
  return std::visit(
      base::Overloaded{[](const Contract& contract) { return base::unite(contract.product, contract.power.plates); },
                       [](const LeaveOneOut& others) { return base::unite(others.product, others.power.plates); },
                       [](const Weigh&) { return SortedSet{}; }, [](const LogMass&) { return SortedSet{}; }},
      step.operation);
}

const SortedSet& leaf_of(const Step& step) {
  using Set = const SortedSet&;
  return std::visit(
      base::Overloaded{[](const Contract& contract) -> Set { return contract.leaf; },
                       [](const LeaveOneOut& others) -> Set { return others.leaf; },
                       [](const Weigh&) -> Set { return nothing; }, [](const LogMass&) -> Set { return nothing; }},
      step.operation);
}

bool accumulates(const Step& step) {
  const auto* weigh = step.as<Weigh>();
  return weigh != nullptr && weigh->accumulate;
}

std::vector<DimId> Schedule::loops(const Step& step) const {
  std::vector<DimId> all = values[step.output].dims;
  if (const auto* contract = step.as<Contract>()) {
    all.insert(all.end(), contract->product.begin(), contract->product.end());
  }
  const SortedSet& sum = summed(step);
  all.insert(all.end(), sum.begin(), sum.end());
  return all;
}

}  // namespace plated::planner
