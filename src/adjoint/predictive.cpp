// Computes leave-one-out totals: without each slice of a plate, and without some factors in each slice of a chain.
#include <algorithm>
#include <optional>

#include "adjoint/contexts.hpp"
#include "adjoint/left_out.hpp"
#include "adjoint/question_schedule.hpp"
#include "adjoint/questions.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"

namespace plated::adjoint {
namespace {

using base::contains;
using planner::Scan;

/// The steps that a value is computed from; what messages before slices are computed from is not among them.
std::vector<std::size_t> steps_to(const Schedule& schedule, ValueId value) {
  std::vector<std::size_t> steps;
  if (value == none) return steps;  // an output without elements
  std::vector<bool> wanted(schedule.values.size(), false);
  wanted[value] = true;
  for (std::size_t s = schedule.steps.size(); s-- > 0;) {
    const Step& step = schedule.steps[s];
    if (!wanted[step.output]) continue;
    steps.push_back(s);
    for (const ValueId v : step.inputs) wanted[v] = true;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

ValueId output_value(const Schedule& schedule, std::size_t output) {
  for (const Step& step : schedule.steps) {
    const Value& value = schedule.values[step.output];
    if (value.kind == Value::Kind::output && value.index == output) return step.output;
  }
  return none;
}

/// The steps on the way from operands to the messages after all slices of a scan; none where one leads nowhere.
std::vector<std::size_t> steps_between(const Schedule& schedule, const std::vector<ValueId>& operands,
                                       ValueId results) {
  std::vector<bool> depends(schedule.values.size(), false);
  for (const ValueId v : operands) depends[v] = true;
  std::vector<std::size_t> steps;
  for (const std::size_t s : steps_to(schedule, results)) {
    const Step& step = schedule.steps[s];
    if (!std::any_of(step.inputs.begin(), step.inputs.end(), [&](ValueId v) { return depends[v]; })) continue;
    depends[step.output] = true;
    steps.push_back(s);
  }
  return depends[results] ? steps : std::vector<std::size_t>{};
}

/// A variable that a chain links, where the plan has nothing of it because a plate around it is empty.
std::optional<DimId> linked_in_empty_plate(const Schedule& schedule, DimId chain) {
  const auto plates = schedule.graph.variable_plates();
  for (const Chain& each : schedule.graph.chains()) {
    if (each.dim != chain || each.links.empty()) continue;
    for (const DimId d : plates[each.links[0].source]) {
      if (contains(schedule.problem.fixed, d) && schedule.graph.dims()[d].size == 0) return each.links[0].source;
    }
  }
  return std::nullopt;
}

/// The scan along a chain whose slices have all of these factors.
std::size_t scan_of(const Schedule& schedule, DimId chain, const std::vector<std::size_t>& factors) {
  std::vector<std::size_t> holders;
  const AllSlices all(schedule);
  for (const Slices& slices : all.list()) {
    if (schedule.steps[slices.scan].as<Scan>()->chain == chain) holders.push_back(slices.scan);
  }
  for (const std::size_t f : factors) {
    std::erase_if(holders, [&](std::size_t s) {
      for (ValueId v = 0; v < schedule.values.size(); ++v) {
        const Value& value = schedule.values[v];
        if (value.kind != Value::Kind::operand || value.index != f) continue;
        return steps_between(schedule, {v}, schedule.steps[s].as<Scan>()->results).empty();
      }
      return true;
    });
    if (holders.empty() || !contains(schedule.graph.factor_plates(f), chain)) {
      throw OptionError("factor " + graph::quoted(schedule.graph.factors()[f].name) +
                        " cannot be left out of slices of chain " + graph::quoted(schedule.graph.dims()[chain].name) +
                        ": the factors must be joined to its linked variables, and to each other");
    }
  }
  return holders[0];
}

}  // namespace

Schedule predictive_schedule(Schedule schedule, DimId plate) {
  const ValueId total = output_value(schedule, 0);
  const std::vector<std::size_t> steps = steps_to(schedule, total);
  StepWriter writer(schedule);
  LeftOut left_out(writer, plate);
  const ValueId answer = writer.add_output(joined(graph::batch_axes(schedule.graph), {plate}));
  for (const std::size_t s : steps) {
    const Step step = writer.step(s);
    if (step.output == total) {
      writer.add(Contract{}, left_out.replaced(step), answer);
    } else {
      left_out.repeat(step);
    }
  }
  return finished(std::move(schedule));
}

Schedule chain_predictive_schedule(Schedule schedule, DimId chain, const std::vector<bool>& left_out) {
  std::vector<std::size_t> factors;
  for (std::size_t f = 0; f < left_out.size(); ++f) {
    if (left_out[f]) factors.push_back(f);
  }
  if (factors.empty()) {
    throw OptionError("which factors of a slice of chain " + graph::quoted(schedule.graph.dims()[chain].name) +
                      " are left out? Name them");
  }
  const auto answer_axes = [&](DimId linked) {
    std::vector<DimId> axes = graph::AnswerAxes(schedule.graph)(linked, false);
    std::erase(axes, chain);
    axes.push_back(chain);
    return axes;
  };
  if (const std::optional<DimId> linked = linked_in_empty_plate(schedule, chain)) {
    StepWriter(schedule).add_output(answer_axes(*linked));
    return finished(std::move(schedule));
  }
  const Scan scan = *schedule.steps[scan_of(schedule, chain, factors)].as<Scan>();
  std::vector<ValueId> operands;
  for (ValueId v = 0; v < schedule.values.size(); ++v) {
    const Value& value = schedule.values[v];
    if (value.kind == Value::Kind::operand && value.index < left_out.size() && left_out[value.index])
      operands.push_back(v);
  }
  const std::vector<std::size_t> steps = steps_between(schedule, operands, scan.results);
  const ValueId total = output_value(schedule, 0);
  StepWriter writer(schedule);
  const ValueId answer = writer.add_output(answer_axes(scan.before[0]));
  // What surrounds each slice, and the slice without these factors.
  Contexts contexts(writer, Semiring::log);
  contexts.want(scan.results);
  contexts.seed(total, none);
  LeftOut repeated(writer, {});
  for (const ValueId v : operands) repeated.leave_out_operand(v);
  contexts.run({});
  for (const std::size_t s : steps) repeated.repeat(writer.step(s));
  writer.contract({repeated.without(scan.results), contexts.context(scan.results)}, {}, Semiring::log, answer);
  return finished(std::move(schedule));
}

}  // namespace plated::adjoint
