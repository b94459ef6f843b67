// Answers what several passes ask of a step, whatever its kind.
#include "planner/schedule.hpp"

#include <algorithm>
#include <iterator>

#include "base/overloaded.hpp"
#include "graph/derived.hpp"
#include "planner/point_ends.hpp"

namespace plated::planner {
namespace {

const SortedSet nothing;

}  // namespace

const SortedSet& summed(const Step& step) {
  using Set = const SortedSet&;
  return std::visit(
      base::Overloaded{[](const Contract& contract) -> Set { return contract.sum; },
                       [](const Weigh& weigh) -> Set { return weigh.sum; },
                       [](const LeaveOneOut&) -> Set { return nothing; }, [](const LogMass&) -> Set { return nothing; },
                       [](const Raise&) -> Set { return nothing; }, [](const Gather&) -> Set { return nothing; },
                       [](const Scatter& scatter) -> Set { return scatter.sum; },
                       [](const Scan&) -> Set { return nothing; }},
      step.operation);
}

SortedSet multiplied(const Step& step) {
  return std::visit(
      base::Overloaded{[](const Contract& contract) { return base::unite(contract.product, contract.power.plates); },
                       [](const LeaveOneOut& others) { return base::unite(others.product, others.power.plates); },
                       [](const Weigh&) { return SortedSet{}; }, [](const LogMass&) { return SortedSet{}; },
                       [](const Raise&) { return SortedSet{}; }, [](const Gather& gather) { return gather.product; },
                       [](const Scatter&) { return SortedSet{}; }, [](const Scan&) { return SortedSet{}; }},
      step.operation);
}

const SortedSet& leaf_of(const Step& step) {
  using Set = const SortedSet&;
  return std::visit(
      base::Overloaded{
          [](const Contract& contract) -> Set { return contract.leaf; },
          [](const LeaveOneOut& others) -> Set { return others.leaf; }, [](const Weigh&) -> Set { return nothing; },
          [](const LogMass&) -> Set { return nothing; }, [](const Raise& raise) -> Set { return raise.leaf; },
          [](const Gather& gather) -> Set { return gather.leaf; }, [](const Scatter&) -> Set { return nothing; },
          [](const Scan& scan) -> Set { return scan.leaf; }},
      step.operation);
}

bool accumulates(const Step& step) {
  const auto* weigh = step.as<Weigh>();
  return weigh != nullptr && weigh->accumulate;
}

bool Schedule::is_index(std::size_t operand) const {
  return std::any_of(observations.begin(), observations.end(),
                     [&](const auto& each) { return each.second.operand == operand; });
}

std::string Schedule::operand_name(const Value& value) const {
  const std::size_t factors = graph.factors().size();
  if (value.index < factors) return graph.factors()[value.index].name;
  if (value.index >= factors + weights.size()) return "input" + std::to_string(value.index);
  const auto weighted = std::next(weights.begin(), static_cast<std::ptrdiff_t>(value.index - factors));
  const Dim& dim = graph.dims()[end_of_exponents(weighted->first)];
  if (dim.end == End::none) return "weights of " + dim.name;
  return (weighted->first == differing(weighted->first) ? "other states than " : "slice of ") + dim.name;
}

std::vector<DimId> Schedule::loops(const Step& step) const {
  std::vector<DimId> all = values[step.output].dims;
  if (const auto* contract = step.as<Contract>()) {
    all = base::joined(std::move(all), contract->product);
  } else if (const auto* gather = step.as<Gather>()) {
    all = base::joined(std::move(all), gather->product);
  }
  return base::joined(std::move(all), summed(step));
}

std::shared_ptr<Schedule> empty_body(const Schedule& schedule) {
  auto body = std::make_shared<Schedule>();
  body->graph = graph::Derived::shared(schedule.graph);
  body->extents = schedule.extents;
  body->problem = schedule.problem;
  body->problem.factors.clear();  // its operands are others
  body->problem.outputs.clear();
  body->verified = schedule.verified;
  return body;
}

std::vector<bool> steps_before(const Schedule& schedule, std::optional<std::size_t> output, bool with_slices) {
  std::vector<bool> needed(schedule.steps.size(), false);
  std::vector<bool> read(schedule.values.size(), false);
  // What a scan's messages are after each slice matters where its last one does.
  std::vector<const Step*> writer_of(schedule.values.size(), nullptr);
  for (const Step& step : schedule.steps) {
    const auto* scan = step.as<Scan>();
    if (with_slices && scan != nullptr && scan->results != none) writer_of[scan->results] = &step;
  }
  for (std::size_t s = schedule.steps.size(); s-- > 0;) {
    const Step& step = schedule.steps[s];
    const auto look = [&](ValueId v) {
      const Value& value = schedule.values[v];
      const bool is_asked = value.kind == Value::Kind::output && value.index == output.value_or(value.index);
      needed[s] = needed[s] || read[v] || is_asked;
    };
    for_each_output(step, look);
    if (const Step* along = writer_of[step.output]) for_each_output(*along, look);
    for (const ValueId v : needed[s] ? step.inputs : std::vector<ValueId>{}) read[v] = true;
  }
  return needed;
}

}  // namespace plated::planner
