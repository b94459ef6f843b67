// Passes masses back as their ratios to messages: these run as messages do, without the masses of what a slice
// computes.
//
// A message and its ratio share out the mass of the last message, whatever was rounded on the way: each slice is
// normalised by its own total.
#include <algorithm>
#include <iterator>
#include <utility>

#include "adjoint/reverse.hpp"
#include "base/assert.hpp"

namespace plated::adjoint {

using planner::Scan;

namespace {

/// Writes what surrounds the message before a slice, given what surrounds the one after it: step by step, the product
/// of that with all other inputs.
void surround(const Schedule& schedule, const Slices& slices, SliceBody& body, ValueId out) {
  StepWriter& writer = body.writer();
  ValueId around = body.message();
  for (std::size_t k = slices.steps.size(); k-- > 0;) {
    // Each step reads what the one before it has made of the message.
    const ValueId in =
        k > 0 ? schedule.steps[slices.steps[k - 1]].output : schedule.steps[slices.scan].as<Scan>()->messages;
    std::vector<ValueId> others{around};
    for (const ValueId v : schedule.steps[slices.steps[k]].inputs) {
      if (v != in) others.push_back(body[v]);
    }
    PLATED_ASSERT(others.size() == schedule.steps[slices.steps[k]].inputs.size());
    // The variables of the input, and all slices that the others tell apart.
    std::vector<DimId> kept;
    for (const ValueId v : others) {
      for (const DimId d : writer.schedule().values[v].dims) {
        const bool keeps = schedule.problem.kind[d] != DimKind::variable || base::contains(writer.dims(body[in]), d);
        if (keeps && std::find(kept.begin(), kept.end(), d) == kept.end()) kept.push_back(d);
      }
    }
    around = writer.contract(std::move(others), kept, Semiring::log, k > 0 ? none : out);
  }
}

}  // namespace

/// That is so if nothing but the messages has masses inside of the slices, and none of them is negative.
bool Reverse::has_ratios(const Slices& slices, const Returning& masses) const {
  const Scan& scan = *writer_.schedule().steps[slices.scan].as<Scan>();
  const bool is_answered = masses.answers_slices && tells_[scan.messages].empty() && !tells_[scan.results].empty();
  return options_.semiring == Semiring::log && options_.nonnegative && masses.added == none && !masses.form &&
         masses.factors.empty() && !is_answered;
}

Reverse::Returned Reverse::send_ratios(const Slices& slices, const Returning& masses) const {
  const Step step = writer_.step(slices.scan);
  const Scan scan = *step.as<Scan>();
  const std::vector<DimId> kept = kept_in(slices, masses), rows = joined({scan.chain}, kept);
  const ValueId last = last_mass(slices, masses);
  const ValueId whole = writer_.contract({last}, kept, Semiring::real);
  const bool echoes = masses.answers_slices && !tells_[scan.results].empty();
  std::vector<ValueId> terms;  // of the messages before and after each slice, but for a factor of each slice
  Scan back = returning(writer_.schedule(), step, kept);
  back.semiring = Semiring::log;
  SliceBody body(writer_.schedule(), slices, joined(kept, scan.after), planner::Precision::message);
  const ValueId around = body.writer().add_output(joined(kept, scan.before));
  surround(writer_.schedule(), slices, body, around);
  if (!tells_[scan.messages].empty()) {
    StepWriter& writer = body.writer();
    const ValueId best = writer.contract({body[scan.messages], around}, kept, Semiring::max_plus);
    const ValueId out = writer.add_output(joined(kept, scan.before));
    writer.weigh(out, {.added = {body[scan.messages], around}, .subtracted = {best}}, writer.dims(out), false);
    terms.push_back(writer_.add_intermediate(joined(rows, scan.before)));
    if (echoes) {
      back.echo = writer.schedule().values[body.read(last)].index;
      terms.push_back(writer_.add_intermediate(joined(rows, scan.after)));
    }
    back.answers = terms;
  }
  const ValueId ratios = back.messages =
      writer_.add_intermediate(joined(rows, scan.after), planner::Precision::message);
  const ValueId first_ratios =
      body.append_to(writer_, std::move(back), writer_.log_mass(last, step.output), joined(kept, scan.start));

  std::vector<ValueId> factors{whole};
  if (const ValueId present = presence_of(step); present != none) factors.push_back(present);
  const auto tell = [&](ValueId messages, ValueId of) {
    for (const ValueId to : tells_[messages]) {
      Terms shared{.factors = joined({of}, factors)};
      if (!base::is_subset(base::sorted(rows), writer_.dims(to))) {
        // Rows are added up. Those without any mass are zero.
        const ValueId all = writer_.log_mass(writer_.contract({of}, rows, Semiring::real));
        shared.added = {all};
        shared.subtracted = {all, all};
      }
      writer_.weigh(to, std::move(shared), writer_.dims(of), false);
    }
  };
  if (!terms.empty()) tell(scan.messages, terms[0]);
  if (echoes) tell(scan.results, terms[1]);
  const auto share = [&](std::vector<ValueId> message, const std::vector<DimId>& apart,
                         const std::vector<DimId>& states, std::vector<ValueId> masses_of_rows) {
    const ValueId all = writer_.contract(message, apart, Semiring::log);
    std::vector<DimId> dims = apart;  // ends that are carried along are among them
    std::copy_if(states.begin(), states.end(), std::back_inserter(dims),
                 [&](DimId d) { return std::find(apart.begin(), apart.end(), d) == apart.end(); });
    const ValueId out = writer_.add_intermediate(std::move(dims));
    Terms terms_of_rows{.added = std::move(message), .subtracted = {all}, .factors = std::move(masses_of_rows)};
    writer_.weigh(out, std::move(terms_of_rows), writer_.dims(out), false);
    return out;
  };
  Returned returned;
  if (!masses.answers_slices) {
    returned.results = share({scan.results, ratios}, rows, scan.after, factors);
    for (const ValueId to : tells_[scan.results]) writer_.copy(to, returned.results);
  }
  if (active_[step.inputs[0]]) {
    returned.first = share({step.inputs[0], first_ratios}, kept, scan.start, {whole});
  }
  return returned;
}

}  // namespace plated::adjoint
