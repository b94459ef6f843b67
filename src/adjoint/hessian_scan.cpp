// Second derivatives along chains: tangents run as messages do, and tangents of masses as masses do.
#include <algorithm>
#include <utility>

#include "adjoint/hessian.hpp"

namespace plated::adjoint {

using planner::Scan;

/// What is taken out of messages is a number that does not move.
void Hessian::tangents_along(const Slices& slices) {
  const Step step = writer_.step(slices.scan);
  const Scan scan = *step.as<Scan>();
  SliceBody body(writer_.schedule(), slices, joined(scan.kept, scan.before), planner::Precision::wide);
  std::vector<std::pair<ValueId, ValueId>> tangents;  // of what a slice reads
  for (const std::size_t s : slices.steps) {
    for (const ValueId v : writer_.step(s).inputs) {
      if (tangent_[v] != none) tangents.emplace_back(body[v], body.read(tangent_[v]));
    }
  }
  const ValueId start = tangent_[step.inputs[0]];
  if (tangents.empty() && start == none) return;
  tangents.emplace_back(body[scan.messages], body.message());
  StepWriter& writer = body.writer();
  const Reverse reverse(writer, {.semiring = semiring_, .nonnegative = false, .expand = {}});
  Hessian inside(writer, reverse, semiring_);
  for (const auto& [value, tangent] : tangents) inside.tangent_[value] = tangent;
  for (std::size_t s = 0; s < reverse.forward_steps(); ++s) inside.tangent_of(writer.step(s));
  const ValueId result = inside.tangent_[body[scan.results]];
  writer.copy(writer.add_output(joined(scan.kept, scan.after)), result);

  Scan along = scan;
  along.semiring = Semiring::real;
  along.shifts = along.results = none;
  along.messages = tangent_[scan.messages] = writer_.add_intermediate(writer_.schedule().values[scan.messages].dims);
  const ValueId first = start == none ? writer_.zero() : start;
  tangent_[step.output] = body.append_to(writer_, std::move(along), first, writer_.schedule().values[step.output].dims);
}

void Hessian::curve_along(const Slices& slices) {
  const Step step = writer_.step(slices.scan);
  const Scan scan = *step.as<Scan>();
  // What tangents make of the masses of each slice's result is added to the message before the slice.
  std::vector<ValueId> inside{scan.messages};
  for (const std::size_t s : slices.steps) inside.push_back(writer_.step(s).output);
  const auto is_inside = [&](ValueId v) { return std::find(inside.begin(), inside.end(), v) != inside.end(); };
  for (auto s = slices.steps.rbegin(); s != slices.steps.rend(); ++s) curve(writer_.step(*s), is_inside);
  for (const ValueId v : inside) {
    if (v != scan.messages) curved_[v] = none;
  }
  if (curved_[step.output] == none && curved_[scan.messages] == none) return;
  const Reverse::Returned returned =
      reverse_.pass_back(slices, {.last = curved_[step.output], .added = curved_[scan.messages]});
  curved_[scan.results] = returned.results;
  add(curved_, step.inputs[0], {.factors = {returned.first}}, writer_.dims(returned.first));
}

}  // namespace plated::adjoint
