// Passes masses back along chains: the reverse of a scan is a scan the other way.
//
// The mass of the message after a slice is that of the message before the next one. A body that recomputes a slice
// passes it on to the message before the slice; what else the slice reads gets its mass from the steps that compute all
// slices at once or, where there are kernels for all that is asked of the slices or a slice is large, from the scan
// itself.
#include <algorithm>
#include <utility>

#include "adjoint/reverse.hpp"
#include "planner/scan_form.hpp"

namespace plated::adjoint {

using base::subtract;
using base::unite;
using planner::Precision;
using planner::Scan;

void Reverse::pass_along(const Slices& slices) {
  const Step step = writer_.step(slices.scan);
  const Scan scan = *step.as<Scan>();
  Returning masses{.last = mass_[step.output], .added = mass_[scan.messages]};
  if (!active_[step.output] || (masses.last == none && masses.added == none)) return;
  find_form(slices, masses);
  if (!masses.form) find_factors(slices, masses);
  const bool by_ratios = has_ratios(slices, masses);
  if (!by_ratios) choose_answers(slices, masses);
  const Returned returned = by_ratios ? send_ratios(slices, masses) : pass_back(slices, masses);
  for (const std::size_t s : slices.steps) answered_[s] = masses.answers_slices;

  mass_[scan.results] = returned.results;
  const ValueId present = masses.answers_slices ? none : presence_of(step);
  const auto write = [&](ValueId to, ValueId mass) {
    if (to != mass) writer_.copy(to, mass);
  };
  for (std::size_t k = 0; k < masses.before.size(); ++k) {
    write(tells_[scan.messages][k], present_part(masses.before[k], present));
  }
  for (std::size_t k = 0; k < tells_[scan.results].size() && !by_ratios; ++k) {
    write(tells_[scan.results][k], masses.answers_slices ? masses.after[k] : returned.results);
  }
  for (std::size_t k = 0; k < masses.factors.size(); ++k) {
    const ValueId v = masses.factors[k];
    if (mass_[v] == masses.answers[k]) continue;
    add(v, {.factors = {masses.answers[k]}}, writer_.dims(v));
  }
  if (active_[step.inputs[0]]) {
    add(step.inputs[0], {.factors = {returned.first}}, writer_.dims(returned.first));
  }
}

/// That is so if states are asked for, alone or with the factors of hidden Markov models, each in rows of its own.
void Reverse::find_form(const Slices& slices, Returning& masses) const {
  const Schedule& schedule = writer_.schedule();
  const Step& step = schedule.steps[slices.scan];
  const auto& scan = *step.as<Scan>();
  if (options_.semiring != Semiring::log || !options_.nonnegative || masses.added != none ||
      kept_in(slices, masses) != scan.kept) {
    return;
  }
  const std::optional<planner::ScanForm> form = planner::scan_form(schedule, step);
  if (!form) return;
  const auto asked = [&](std::optional<std::size_t> operand, const std::vector<DimId>& dims) {
    const ValueId v = operand ? step.inputs[*operand] : none;
    if (v == none || !active_[v]) return true;
    masses.factors.push_back(v);
    return writer_.dims(v) == base::sorted(dims) && (target_[v] != none || slices_[v].empty());
  };
  const std::vector<DimId> rows = joined({scan.chain}, scan.kept);
  const bool fits = options_.skips_slices ? asked(form->matrix, joined(scan.before, scan.after)) &&
                                                asked(form->before, joined(rows, scan.before)) &&
                                                asked(form->after, joined(rows, scan.after))
                                          : presence_of(step) == none;
  if (!fits) return masses.factors.clear();
  masses.form = form;
  masses.answers_slices = options_.skips_slices;
}

/// To compute all slices at once, they are computed once more: that is worth it where a slice is so small that the call
/// of a kernel takes longer, unless nothing but messages is asked for.
void Reverse::find_factors(const Slices& slices, Returning& masses) const {
  constexpr double fewest_terms = 2048;
  const Schedule& schedule = writer_.schedule();
  const auto& scan = *schedule.steps[slices.scan].as<Scan>();
  if (!options_.skips_slices) return;
  double terms = 0;
  std::vector<ValueId> factors;
  std::vector<bool> known(schedule.values.size(), false);
  known[scan.messages] = true;
  for (const std::size_t s : slices.steps) {
    const Step& step = schedule.steps[s];
    if (wanted_[step.output]) return;
    double own = 1;
    for (const DimId d : schedule.loops(step)) {
      if (schedule.problem.kind[d] == DimKind::variable) own *= static_cast<double>(schedule.problem.domain[d]);
    }
    terms += own;
    known[step.output] = true;
    for (const ValueId v : step.inputs) {
      if (known[v] || !active_[v]) continue;
      if (target_[v] == none && !slices_[v].empty()) return;
      known[v] = true;
      factors.push_back(v);
    }
  }
  if (terms < fewest_terms && !factors.empty()) return;
  masses.factors = std::move(factors);
  masses.answers_slices = true;
}

/// Where it writes one for each slice, a scan writes a mass itself.
void Reverse::choose_answers(const Slices& slices, Returning& masses) {
  const Scan scan = *writer_.schedule().steps[slices.scan].as<Scan>();
  for (const ValueId v : masses.factors) {
    const bool of_slices = base::contains(writer_.dims(v), scan.chain);
    const bool direct = of_slices && mass_[v] == none && scale_[v].is_one();
    if (direct) begin_mass(v);
    masses.answers.push_back(direct ? mass_[v] : writer_.add_intermediate(writer_.schedule().values[v].dims));
  }
  const auto tell = [&](ValueId messages, const std::vector<DimId>& states, std::vector<ValueId>& told) {
    const std::vector<DimId> dims = joined(joined({scan.chain}, kept_in(slices, masses)), states);
    for (const ValueId to : tells_[messages]) {
      const bool direct = masses.answers_slices && writer_.dims(to) == base::sorted(dims);
      told.push_back(direct ? to : writer_.add_intermediate(dims));
    }
  };
  tell(scan.messages, scan.before, masses.before);
  if (masses.answers_slices) return tell(scan.results, scan.after, masses.after);
  if (masses.form) masses.after = {writer_.add_intermediate(joined(joined({scan.chain}, scan.kept), scan.after))};
}

std::vector<DimId> Reverse::kept_in(const Slices& slices, const Returning& masses) const {
  const Step& step = writer_.schedule().steps[slices.scan];
  const auto& scan = *step.as<Scan>();
  SortedSet more;
  if (masses.last != none) more = subtract(writer_.dims(masses.last), writer_.dims(step.output));
  if (masses.added != none) more = unite(more, subtract(writer_.dims(masses.added), writer_.dims(scan.messages)));
  return joined({more.begin(), more.end()}, scan.kept);
}

/// Slices that do not exist have no mass.
ValueId Reverse::present_part(ValueId mass, ValueId present) const {
  if (mass == none || present == none) return mass;
  const std::vector<DimId> dims = writer_.schedule().values[mass].dims;
  return writer_.contract({mass, present}, dims, Semiring::real);
}

/// With all dims that masses tell apart, row-major.
ValueId Reverse::last_mass(const Slices& slices, const Returning& masses) const {
  if (masses.last == none) return writer_.zero();
  const Scan back = returning(writer_.schedule(), writer_.step(slices.scan), kept_in(slices, masses));
  std::vector<DimId> dims = joined(back.kept, back.start);
  const Value& value = writer_.schedule().values[masses.last];
  if (value.kind == Value::Kind::intermediate && value.dims == dims) return masses.last;
  const ValueId begin = writer_.add_intermediate(std::move(dims));
  writer_.copy(begin, masses.last);
  return begin;
}

Reverse::Returned Reverse::pass_back(const Slices& slices, const Returning& masses) const {
  const Step step = writer_.step(slices.scan);
  const Scan scan = *step.as<Scan>();
  Scan back = returning(writer_.schedule(), step, kept_in(slices, masses));
  back.semiring = Semiring::real;
  const ValueId begin = last_mass(slices, masses);
  for (const auto* answers : {&masses.answers, &masses.before, &masses.after}) {
    back.answers.insert(back.answers.end(), answers->begin(), answers->end());
  }
  SliceBody body(writer_.schedule(), slices, joined(back.kept, scan.after), Precision::wide);
  write_return(slices, masses, back, body);
  if (!masses.answers_slices && !masses.form) {
    back.messages = writer_.add_intermediate(joined(joined({scan.chain}, back.kept), scan.after));
  }
  const ValueId messages = !masses.answers_slices && masses.form ? masses.after[0] : back.messages;
  std::vector<DimId> first_dims = joined(back.kept, scan.start);
  const ValueId first = body.append_to(writer_, std::move(back), begin, std::move(first_dims));
  return {.results = present_part(messages, presence_of(step)), .first = first};
}

/// The body reads the message before the slice, what the slice reads besides, the mass of the message after it, and a
/// mass that is added to that of the message before it. It writes that mass, and the answers.
void Reverse::write_return(const Slices& slices, const Returning& masses, Scan& back, SliceBody& body) const {
  const Step along = writer_.schedule().steps[slices.scan];
  const Scan scan = *along.as<Scan>();
  StepWriter& writer = body.writer();
  const auto number = [&](ValueId v) { return writer.schedule().values[body.read(v)].index; };
  const ValueId present = masses.answers_slices ? presence_of(along) : none;
  if (masses.form) {
    const auto term = [&](std::optional<std::size_t> of) {
      return of ? std::optional(number(along.inputs[*of])) : std::nullopt;
    };
    back.smoothing = {.form = {.matrix = number(along.inputs[masses.form->matrix]),
                               .before = term(masses.form->before),
                               .after = term(masses.form->after)},
                      .messages = number(scan.messages)};
  }
  if (present != none) (void)body.read(present);
  ValueId mass = body.message();
  Reverse reverse(writer, {.semiring = options_.semiring,
                           .nonnegative = options_.nonnegative,
                           .expand = {},
                           .shared_by_all = base::sorted(back.kept)});
  const ValueId answer = writer.add_output(joined(back.kept, scan.before));
  for (const ValueId v : masses.factors) reverse.want_operand(number(v));
  // What the factors of absent slices would get is not theirs.
  if (present != none) {
    const std::vector<DimId> dims = writer.schedule().values[mass].dims;
    mass = writer.contract({mass, body[present]}, dims, Semiring::real);
  }
  reverse.want(body[scan.messages]);
  reverse.seed(body[scan.results], mass);
  reverse.run({});
  const ValueId passed = reverse.mass(body[scan.messages]);
  const ValueId more = masses.added != none ? body.read(masses.added) : none;
  const auto pass_to = [&](ValueId to) {
    writer.copy(to, passed);
    if (more != none) writer.copy(to, more, true);
  };
  pass_to(answer);
  for (std::size_t k = 0; k < masses.before.size(); ++k) pass_to(writer.add_output(joined(back.kept, scan.before)));
  for (std::size_t k = 0; k < masses.after.size(); ++k) {
    writer.copy(writer.add_output(joined(back.kept, scan.after)), mass);
  }
}

}  // namespace plated::adjoint
