// Passes contexts from each step's output to its inputs.
#include "adjoint/contexts.hpp"

#include <algorithm>

#include "adjoint/gathered.hpp"
#include "base/assert.hpp"

namespace plated::adjoint {

using base::contains;
using planner::Scan;

Contexts::Contexts(StepWriter& writer, Semiring semiring)
    : writer_(writer),
      semiring_(semiring),
      forward_steps_(writer.schedule().steps.size()),
      active_(writer.schedule().values.size(), false),
      is_known_(writer.schedule().values.size(), false),
      context_(writer.schedule().values.size(), none),
      scans_(writer.schedule()) {}

std::vector<ValueId> Contexts::with_context(std::vector<ValueId> values, ValueId of) const {
  if (context_[of] != none) values.push_back(context_[of]);
  return values;
}

/// Whatever is computed from a wanted value leads to its context.
void Contexts::spread_activity() {
  for (const Slices& slices : scans_.list()) {
    const Step& scan = writer_.schedule().steps[slices.scan];
    const bool asked = std::any_of(slices.steps.begin(), slices.steps.end(),
                                   [&](std::size_t s) { return active_[writer_.schedule().steps[s].output]; });
    if (asked) active_[scan.output] = true;
  }
  for (std::size_t s = 0; s < forward_steps_; ++s) {
    const Step& step = writer_.schedule().steps[s];
    if (std::any_of(step.inputs.begin(), step.inputs.end(), [&](ValueId v) { return active_[v]; })) {
      active_[step.output] = true;
    }
  }
}

void Contexts::run(const Visit& visit) {
  spread_activity();
  for (std::size_t s = forward_steps_; s-- > 0;) {
    const Step step = writer_.step(s);
    if (!active_[step.output]) continue;
    if (const Slices* slices = scans_.ended_by(s)) pass_along(*slices);
    if (!is_known_[step.output]) continue;
    if (visit) visit(step);
    if (step.is<Scan>()) continue;
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      if (active_[step.inputs[k]] && step.inputs[k] != scans_.messages_in(s)) pass_to(step, k);
    }
  }
}

void Contexts::pass_to(const Step& step, std::size_t input) {
  const ValueId in = step.inputs[input];
  PLATED_ASSERT(!is_known_[in]);
  std::vector<ValueId> others = with_context({}, step.output);
  if (const auto* raised = step.as<planner::Raise>()) {
    if (input > 0) return;  // exponents are no values
    // One copy is told apart, and the others are as they are.
    const ValueId rest = writer_.add_intermediate(writer_.schedule().values[step.output].dims);
    writer_.add(planner::Raise{.less = raised->less + 1, .semiring = semiring_}, step.inputs, rest);
    others.push_back(rest);
  } else if (step.is<planner::Gather>()) {
    if (!multiplied(step).empty()) {
      const ValueId slices = product_of_slices(writer_, step, semiring_).inputs[0];
      others.push_back(writer_.leave_one_out({slices}, multiplied(step), {}, semiring_));
    }
  } else {
    for (std::size_t k = 0; k < step.inputs.size(); ++k) {
      if (k != input) others.push_back(step.inputs[k]);
    }
    const auto& contract = *step.as<Contract>();
    if (!multiplied(step).empty()) {
      others.push_back(
          writer_.leave_one_out({writer_.slice_product(step, semiring_)}, contract.product, contract.power, semiring_));
    }
  }
  if (others.empty()) return seed(in, none);  // a copy of the total
  // The variables of the input, and all slices that the others tell apart.
  std::vector<DimId> kept;
  for (const ValueId v : others) {
    for (const DimId d : writer_.schedule().values[v].dims) {
      const bool keeps = writer_.schedule().problem.kind[d] != DimKind::variable || contains(writer_.dims(in), d);
      if (keeps && std::find(kept.begin(), kept.end(), d) == kept.end()) kept.push_back(d);
    }
  }
  seed(in, writer_.contract(std::move(others), kept, semiring_));
}

void Contexts::pass_along(const Slices& slices) {
  const Step step = writer_.step(slices.scan);
  const Scan scan = *step.as<Scan>();
  if (!is_known_[step.output]) return;
  const Returned returned = send_back(slices, {});
  // The slices read messages without what was taken out of them.
  const std::vector<DimId> dims = writer_.schedule().values[returned.messages].dims;
  seed(scan.results, writer_.contract({returned.messages, returned.shifts, scan.shifts}, dims, semiring_));
  if (active_[step.inputs[0]]) seed(step.inputs[0], returned.first);
}

Contexts::Returned Contexts::send_back(const Slices& slices, const Answer& answer) const {
  const Step step = writer_.step(slices.scan);
  const Scan scan = *step.as<Scan>();
  const ValueId last = context_[step.output];
  std::vector<DimId> kept = scan.kept;
  if (last != none) {
    const SortedSet more = base::subtract(writer_.dims(last), writer_.dims(step.output));
    kept.insert(kept.begin(), more.begin(), more.end());
  }
  Scan back = returning(writer_.schedule(), step, kept);
  back.semiring = semiring_;
  SliceBody body(writer_.schedule(), slices, joined(kept, scan.after), planner::Precision::message);
  Contexts contexts(body.writer(), semiring_);
  contexts.want(body[scan.messages]);
  contexts.seed(body[scan.results], body.message());
  contexts.run({});
  ValueId around = contexts.context(body[scan.messages]);
  const ValueId answers = body.writer().add_output(joined(kept, scan.before));
  Step& step_before = body.writer().schedule().steps.back();
  if (step_before.output == around && body.writer().dims(around) == body.writer().dims(answers)) {
    around = step_before.output = answers;
  } else {
    body.writer().contract({around}, {}, semiring_, answers);
  }
  if (answer) answer(body, back, around);
  Returned returned;
  returned.messages = back.messages =
      writer_.add_intermediate(joined(joined({scan.chain}, kept), scan.after), planner::Precision::message);
  returned.shifts = back.shifts = writer_.add_intermediate(joined({scan.chain}, kept));
  // Without a context all messages begin as one.
  const ValueId begin = last != none ? last : writer_.contract({}, {}, semiring_);
  returned.first = body.append_to(writer_, std::move(back), begin, joined(kept, scan.start));
  return returned;
}

}  // namespace plated::adjoint
