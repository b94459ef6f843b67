// Passes masses back along chains: the reverse of a scan is a scan the other way.
//
// The mass of the message after a slice is that of the message before the next one. A body that recomputes a slice
// passes it on to the message before the slice; what else the slice reads gets its mass from the steps that compute all
// slices at once.
#include <algorithm>
#include <utility>

#include "adjoint/reverse.hpp"
#include "graph/derived.hpp"

namespace plated::adjoint {

using base::subtract;
using base::unite;
using planner::Precision;
using planner::Scan;
using planner::Schedule;
using planner::Step;
using planner::Value;

namespace {

std::vector<DimId> joined(std::vector<DimId> dims, const std::vector<DimId>& more) {
  dims.insert(dims.end(), more.begin(), more.end());
  return dims;
}

/// Leaves out steps whose results nothing reads.
void drop_unread(Schedule& schedule) {
  std::vector<bool> read(schedule.values.size(), false);
  std::vector<bool> needed(schedule.steps.size(), false);
  for (std::size_t s = schedule.steps.size(); s-- > 0;) {
    const Step& step = schedule.steps[s];
    needed[s] = read[step.output] || schedule.values[step.output].kind == Value::Kind::output;
    for (const ValueId v : needed[s] ? step.inputs : std::vector<ValueId>{}) read[v] = true;
  }
  std::vector<Step> steps;
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    if (needed[s]) steps.push_back(std::move(schedule.steps[s]));
  }
  schedule.steps = std::move(steps);
}

}  // namespace

void Reverse::find_slices() {
  const Schedule& schedule = writer_.schedule();
  std::vector<std::size_t> writer(schedule.values.size(), forward_steps_);
  for (std::size_t s = 0; s < forward_steps_; ++s) writer[schedule.steps[s].output] = s;
  for (std::size_t s = 0; s < forward_steps_; ++s) {
    const auto* scan = schedule.steps[s].as<Scan>();
    if (scan == nullptr || scan->results == none) continue;
    // What depends on the messages, and leads to the results.
    std::vector<bool> depends(schedule.values.size(), false);
    depends[scan->messages] = true;
    for (std::size_t k = s + 1; k <= writer[scan->results]; ++k) {
      const Step& step = schedule.steps[k];
      depends[step.output] = std::any_of(step.inputs.begin(), step.inputs.end(), [&](ValueId v) { return depends[v]; });
    }
    Slices slices{.scan = s, .steps = {}};
    std::vector<bool> wanted(schedule.values.size(), false);
    wanted[scan->results] = true;
    for (std::size_t k = writer[scan->results]; k > s; --k) {
      const Step& step = schedule.steps[k];
      if (!wanted[step.output] || !depends[step.output]) continue;
      slices.steps.push_back(k);
      messages_in_[k] = scan->messages;
      for (const ValueId v : step.inputs) wanted[v] = true;
    }
    std::reverse(slices.steps.begin(), slices.steps.end());
    results_of_[scan->results] = static_cast<std::uint32_t>(scans_.size());
    scans_.push_back(std::move(slices));
  }
}

void Reverse::pass_along(const Slices& slices) {
  const Step step = writer_.schedule().steps[slices.scan];  // copies: the schedule grows
  const Scan scan = *step.as<Scan>();
  const ValueId last = mass_[step.output];
  const ValueId added = mass_[scan.messages];
  if (!active_[step.output] || (last == none && added == none)) return;
  // Masses may tell slices apart that messages do not.
  const std::vector<DimId> ends(
      writer_.schedule().values[step.output].dims.end() - static_cast<std::ptrdiff_t>(scan.after.size()),
      writer_.schedule().values[step.output].dims.end());
  SortedSet more;
  if (last != none) more = subtract(writer_.dims(last), writer_.dims(step.output));
  if (added != none) more = unite(more, subtract(writer_.dims(added), writer_.dims(scan.messages)));
  const std::vector<DimId> kept = joined({more.begin(), more.end()}, scan.kept);

  Scan back{.chain = scan.chain,
            .forward = !scan.forward,
            .starts = true,
            .ragged = scan.ragged,
            .body = {},
            .kept = kept,
            .before = scan.after,
            .after = scan.before,
            .start = ends,
            .semiring = Semiring::real};
  std::vector<ValueId> inputs;
  if (last != none) {
    const std::vector<DimId> dims = joined(kept, ends);
    inputs.push_back(last);
    if (writer_.dims(last) != base::sorted(dims)) {
      inputs.back() = writer_.add_intermediate(dims);
      writer_.weigh(inputs.back(), {.added = {}, .subtracted = {}, .factors = {last}}, writer_.dims(last), false);
    }
  } else {
    inputs.push_back(writer_.add_intermediate({}));
    writer_.add(planner::Contract{.empty_sum = true, .semiring = Semiring::real}, {}, inputs.back());
  }
  const ValueId present = scan.ragged ? step.inputs[scan.starts ? 1 : 0] : none;
  if (scan.ragged) inputs.push_back(present);
  back.body = returning_body(slices, kept, added, inputs);
  back.message = back.body->operands.size() - (added == none ? 1 : 2);
  back.messages = writer_.add_intermediate(joined(joined({scan.chain}, kept), scan.after));
  const ValueId messages = back.messages;
  const ValueId first = writer_.add_intermediate(joined(kept, scan.start));
  writer_.add(std::move(back), std::move(inputs), first);
  mass_[scan.results] = messages;
  if (present != none) {
    // Slices that do not exist have no mass.
    mass_[scan.results] =
        writer_.contract({messages, present}, writer_.schedule().values[messages].dims, Semiring::real);
  }
  if (scan.starts && active_[step.inputs[0]]) {
    add(step.inputs[0], {.added = {}, .subtracted = {}, .factors = {first}}, writer_.dims(first));
  }
}

/// Operands: the message before the slice, what the slice reads besides, the mass of the message after it, and a mass
/// that is added to that of the message before it.
std::shared_ptr<const Schedule> Reverse::returning_body(const Slices& slices, const std::vector<DimId>& kept,
                                                        ValueId added, std::vector<ValueId>& inputs) const {
  const Schedule& schedule = writer_.schedule();
  const auto& scan = *schedule.steps[slices.scan].as<Scan>();
  auto body = std::make_shared<Schedule>();
  body->graph = graph::Derived::shared(schedule.graph);
  body->extents = schedule.extents;
  body->problem = schedule.problem;
  body->problem.factors.clear();
  body->problem.outputs.clear();
  body->verified = schedule.verified;
  std::vector<ValueId> inside(schedule.values.size(), none);
  const auto without_chain = [&](const Value& value) {
    std::vector<DimId> dims = value.dims;
    std::erase(dims, scan.chain);
    return dims;
  };
  const auto add_value = [&](Value value) {
    body->values.push_back(std::move(value));
    return static_cast<ValueId>(body->values.size() - 1);
  };
  const auto operand = [&](std::vector<DimId> dims, Precision precision) {
    body->operands.push_back(dims);
    return add_value({.kind = Value::Kind::operand,
                      .index = body->operands.size() - 1,
                      .dims = std::move(dims),
                      .precision = precision});
  };
  const auto read = [&](ValueId v) {
    if (inside[v] != none) return;
    inside[v] = operand(without_chain(schedule.values[v]), schedule.values[v].precision);
    inputs.push_back(v);
  };
  read(scan.messages);
  for (const std::size_t s : slices.steps) {
    Step step = schedule.steps[s];
    for (ValueId& v : step.inputs) {
      read(v);
      v = inside[v];
    }
    inside[step.output] = add_value({.kind = Value::Kind::intermediate,
                                     .dims = without_chain(schedule.values[step.output]),
                                     .precision = schedule.values[step.output].precision});
    step.output = inside[step.output];
    step.component = 0;
    body->steps.push_back(std::move(step));
  }
  body->components.push_back({});
  const ValueId mass = operand(joined(kept, scan.after), Precision::wide);
  StepWriter writer(*body);
  ValueId more = none;
  if (added != none) {
    more = operand(without_chain(schedule.values[added]), Precision::wide);
    inputs.push_back(added);
  }
  Reverse reverse(writer, {.semiring = options_.semiring,
                           .nonnegative = options_.nonnegative,
                           .expand = {},
                           .shared_by_all = base::sorted(kept)});
  reverse.seed(inside[scan.results], mass);
  reverse.want(inside[scan.messages]);
  reverse.run({});
  const ValueId answer = writer.add_output(joined(kept, scan.before));
  const ValueId passed = reverse.mass(inside[scan.messages]);
  writer.weigh(answer, {.added = {}, .subtracted = {}, .factors = {passed}}, writer.dims(passed), false);
  if (more != none) {
    writer.weigh(answer, {.added = {}, .subtracted = {}, .factors = {more}}, writer.dims(more), true);
  }
  drop_unread(*body);
  return body;
}

}  // namespace plated::adjoint
