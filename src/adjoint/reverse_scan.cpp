// Passes masses back along chains: the reverse of a scan is a scan the other way.
//
// The mass of the message after a slice is that of the message before the next one. A body that recomputes a slice
// passes it on to the message before the slice; what else the slice reads gets its mass from the steps that compute all
// slices at once.
#include <utility>

#include "adjoint/reverse.hpp"

namespace plated::adjoint {

using base::subtract;
using base::unite;
using planner::Precision;
using planner::Scan;

void Reverse::pass_along(const Slices& slices) {
  const Step step = writer_.step(slices.scan);
  const Scan scan = *step.as<Scan>();
  if (!active_[step.output] || (mass_[step.output] == none && mass_[scan.messages] == none)) return;
  const Returned masses = pass_back(slices, mass_[step.output], mass_[scan.messages]);
  mass_[scan.results] = masses.results;
  if (scan.starts && active_[step.inputs[0]]) {
    add(step.inputs[0], {.added = {}, .subtracted = {}, .factors = {masses.first}}, writer_.dims(masses.first));
  }
}

Reverse::Returned Reverse::pass_back(const Slices& slices, ValueId last, ValueId added) const {
  const Step step = writer_.step(slices.scan);
  const Scan scan = *step.as<Scan>();
  // Masses may tell slices apart that messages do not.
  SortedSet more;
  if (last != none) more = subtract(writer_.dims(last), writer_.dims(step.output));
  if (added != none) more = unite(more, subtract(writer_.dims(added), writer_.dims(scan.messages)));
  Scan back = returning(writer_.schedule(), step, joined({more.begin(), more.end()}, scan.kept));
  back.semiring = Semiring::real;
  std::vector<ValueId> inputs;
  if (last != none) {
    const std::vector<DimId> dims = joined(back.kept, back.start);
    inputs.push_back(last);
    if (writer_.dims(last) != base::sorted(dims)) {
      inputs.back() = writer_.add_intermediate(dims);
      writer_.weigh(inputs.back(), {.added = {}, .subtracted = {}, .factors = {last}}, writer_.dims(last), false);
    }
  } else {
    inputs.push_back(writer_.zero());
  }
  const ValueId present = presence_of(step);
  if (present != none) inputs.push_back(present);
  write_return(slices, added, back, inputs);
  const std::vector<DimId> dims = joined(joined({scan.chain}, back.kept), scan.after);
  const ValueId messages = back.messages = writer_.add_intermediate(dims);
  const ValueId first = writer_.add_intermediate(joined(back.kept, scan.start));
  writer_.add(std::move(back), std::move(inputs), first);
  // Slices that do not exist have no mass.
  return {.results = present == none ? messages : writer_.contract({messages, present}, dims, Semiring::real),
          .first = first};
}

/// The body reads the message before the slice, what the slice reads besides, the mass of the message after it, and a
/// mass that is added to that of the message before it.
void Reverse::write_return(const Slices& slices, ValueId added, Scan& back, std::vector<ValueId>& inputs) const {
  const Scan scan = *writer_.schedule().steps[slices.scan].as<Scan>();
  SliceBody body(writer_.schedule(), slices);
  StepWriter& writer = body.writer();
  const ValueId mass = body.carry(joined(back.kept, scan.after), Precision::wide);
  Reverse reverse(writer, {.semiring = options_.semiring,
                           .nonnegative = options_.nonnegative,
                           .expand = {},
                           .shared_by_all = base::sorted(back.kept)});
  reverse.want(body[scan.messages]);
  reverse.seed(body[scan.results], mass);
  reverse.run({});
  const ValueId answer = writer.add_output(joined(back.kept, scan.before));
  const ValueId passed = reverse.mass(body[scan.messages]);
  writer.weigh(answer, {.added = {}, .subtracted = {}, .factors = {passed}}, writer.dims(passed), false);
  if (added != none) {
    const ValueId more = body.read(added);
    writer.weigh(answer, {.added = {}, .subtracted = {}, .factors = {more}}, writer.dims(more), true);
  }
  body.become_body_of(back, inputs);
}

}  // namespace plated::adjoint
