// Finds the steps of slices, and copies them into bodies.
#include "adjoint/scan_slices.hpp"

#include <algorithm>
#include <utility>

namespace plated::adjoint {

using planner::Precision;
using planner::Scan;

namespace {

/// Leaves out steps whose results nothing reads.
void drop_unread(Schedule& schedule) {
  const std::vector<bool> needed = steps_before(schedule);
  std::vector<Step> steps;
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    if (needed[s]) steps.push_back(std::move(schedule.steps[s]));
  }
  schedule.steps = std::move(steps);
}

}  // namespace

AllSlices::AllSlices(const Schedule& schedule)
    : ended_by_(schedule.steps.size(), none), messages_in_(schedule.steps.size(), none) {
  std::vector<std::size_t> writer(schedule.values.size(), 0);
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) writer[schedule.steps[s].output] = s;
  for (std::size_t s = 0; s < schedule.steps.size(); ++s) {
    const auto* scan = schedule.steps[s].as<Scan>();
    if (scan == nullptr || scan->results == none) continue;
    // Planned one after the other, behind the scan, and not shared with anything.
    Slices slices{.scan = s, .steps = {}};
    for (std::size_t k = s + 1; k <= writer[scan->results]; ++k) {
      slices.steps.push_back(k);
      messages_in_[k] = scan->messages;
    }
    ended_by_[writer[scan->results]] = static_cast<std::uint32_t>(list_.size());
    list_.push_back(std::move(slices));
  }
}

const Slices* AllSlices::ended_by(std::size_t step) const {
  return ended_by_[step] == none ? nullptr : &list_[ended_by_[step]];
}

Scan returning(const Schedule& schedule, const Step& step, std::vector<DimId> kept) {
  const Scan& scan = *step.as<Scan>();
  const std::vector<DimId>& dims = schedule.values[step.output].dims;
  return {.chain = scan.chain,
          .forward = !scan.forward,
          .ragged = scan.ragged,
          .body = {},
          .kept = std::move(kept),
          .before = scan.after,
          .after = scan.before,
          .start = {dims.end() - static_cast<std::ptrdiff_t>(scan.after.size()), dims.end()}};
}

ValueId presence_of(const Step& step) {
  const Scan& scan = *step.as<Scan>();
  return scan.ragged ? step.inputs.back() : none;
}

SliceBody::SliceBody(const Schedule& schedule, const Slices& slices, std::vector<DimId> message, Precision precision)
    : schedule_(schedule),
      scan_(slices.scan),
      chain_(schedule.steps[slices.scan].as<Scan>()->chain),
      body_(empty_body(schedule)),
      writer_(*body_),
      inside_(schedule.values.size(), none),
      message_(writer_.add_operand(std::move(message), precision)) {
  read(schedule.steps[slices.scan].as<Scan>()->messages);
  for (const std::size_t s : slices.steps) {
    Step step = schedule.steps[s];
    for (ValueId& v : step.inputs) v = read(v);
    const ValueId result = writer_.add_intermediate(without_chain(step.output), schedule.values[step.output].precision);
    inside_[step.output] = result;
    writer_.add(std::move(step.operation), std::move(step.inputs), result);
  }
}

std::vector<DimId> SliceBody::without_chain(ValueId value) const {
  std::vector<DimId> dims = schedule_.values[value].dims;
  std::erase(dims, chain_);
  return dims;
}

ValueId SliceBody::read(ValueId value) {
  if (value >= inside_.size()) inside_.resize(schedule_.values.size(), none);  // the schedule has grown
  if (inside_[value] == none) {
    inside_[value] = writer_.add_operand(without_chain(value), schedule_.values[value].precision);
    inputs_.push_back(value);
  }
  return inside_[value];
}

ValueId SliceBody::append_to(StepWriter& writer, Scan scan, ValueId first, std::vector<DimId> dims) {
  drop_unread(*body_);
  scan.body = body_;
  std::vector<ValueId> inputs = joined({first}, inputs_);
  if (const ValueId present = presence_of(schedule_.steps[scan_]); present != none) inputs.push_back(present);
  const ValueId last = writer.add_intermediate(std::move(dims));
  writer.add(std::move(scan), std::move(inputs), last);
  return last;
}

}  // namespace plated::adjoint
