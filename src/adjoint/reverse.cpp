// Passes masses from each step's output to its inputs.
#include "adjoint/reverse.hpp"

#include <algorithm>

#include "adjoint/gathered.hpp"
#include "adjoint/raise_slope.hpp"
#include "base/assert.hpp"

namespace plated::adjoint {

using base::unite;
using planner::LeaveOneOut;

Reverse::Reverse(StepWriter& writer, ReverseOptions options)
    : writer_(writer),
      options_(std::move(options)),
      forward_steps_(writer.schedule().steps.size()),
      operand_value_(writer.schedule().operands.size(), none),
      wanted_(writer.schedule().values.size(), false),
      active_(writer.schedule().values.size(), false),
      slices_(writer.schedule().values.size()),
      mass_(writer.schedule().values.size(), none),
      log_mass_(writer.schedule().values.size(), none),
      log_ratio_(writer.schedule().values.size(), none),
      uses_(writer.schedule().values.size(), 0),
      is_leave_one_out_(writer.schedule().values.size(), false),
      target_(writer.schedule().values.size(), none),
      scale_(writer.schedule().values.size()),
      tells_(writer.schedule().values.size()),
      answered_(forward_steps_, false),
      scans_(writer.schedule()) {
  const planner::Schedule& schedule = writer_.schedule();
  for (ValueId v = 0; v < schedule.values.size(); ++v) {
    if (schedule.values[v].kind == Value::Kind::operand) operand_value_[schedule.values[v].index] = v;
  }
  for (const Step& step : schedule.steps) {
    for (const ValueId v : step.inputs) ++uses_[v];
    is_leave_one_out_[step.output] = step.is<LeaveOneOut>();
    // What an output leaves to the other copies of a slice may be less than nothing.
    const auto* raise = step.as<planner::Raise>();
    if (raise != nullptr && raise->less > 0) options_.nonnegative = false;
  }
}

void Reverse::seed(std::size_t output) {
  std::vector<DimId> axes = writer_.schedule().outputs[output];
  for (std::size_t s = 0; s < forward_steps_; ++s) {
    const ValueId out = writer_.schedule().steps[s].output;
    const Value& value = writer_.schedule().values[out];
    if (value.kind != Value::Kind::output || value.index != output) continue;
    mass_[out] = writer_.add_operand(std::move(axes), out);
    return;
  }
  writer_.schedule().operands.push_back(std::move(axes));  // an output without elements: nothing to pass on
}

void Reverse::run(const Visit& visit) {
  spread_activity();
  spread_slices();
  for (std::size_t s = forward_steps_; s-- > 0;) {
    const Step step = writer_.schedule().steps[s];  // a copy: the schedule grows
    if (const Slices* slices = scans_.ended_by(s)) pass_along(*slices);
    if (mass_[step.output] == none || !active_[step.output] || step.is<planner::Scan>() || answered_[s]) continue;
    if (visit) visit(step, s);
    const ValueId joint = pass_to_joint(step);
    // Exponents are given numbers: they have no mass.
    const std::size_t inputs = step.is<planner::Raise>() ? 1 : step.inputs.size();
    for (std::size_t k = 0; k < inputs; ++k) {
      const ValueId in = step.inputs[k];
      if (!active_[in] || in == joint || in == scans_.messages_in(s)) continue;
      if (joint == none) {
        pass_to(step, k);
      } else if (mass_[in] == none && target_[in] == none && slices_[in].empty() && scale_[joint].is_one()) {
        mass_[in] = writer_.contract({mass_[joint]}, mass_dims(in), Semiring::real);
      } else {
        add(in, {.factors = {mass_[joint]}, .scale = inverse(scale_[joint])}, writer_.dims(joint));
      }
    }
  }
}

/// Where an operand holds all of a sum's terms, its mass is their joint posterior: written first, it gives the others'
/// by adding up, without their exponentials.
ValueId Reverse::pass_to_joint(const Step& step) {
  if (options_.semiring != Semiring::log || summed(step).empty() || !options_.reads_answers) return none;
  const SortedSet terms = reach(step);
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    const ValueId in = step.inputs[k];
    if (target_[in] == none || uses_[in] != 1 || writer_.dims(in) != terms) continue;
    pass_to(step, k);
    return in;
  }
  return none;
}

SortedSet Reverse::reach(const Step& step) const {
  return unite(writer_.loops(step), writer_.dims(mass_[step.output]));
}

void Reverse::pass_to(const Step& step, std::size_t input) {
  if (const auto* others = step.as<LeaveOneOut>()) {
    const ValueId g = mass_[step.output];
    // Sums of masses are the products of max-plus. The real derivative is its own transpose.
    add(step.inputs[0],
        options_.semiring == Semiring::log
            ? writer_.leave_one_out({g}, others->product, others->power, Semiring::max_plus)
            : writer_.leave_one_out({step.inputs[0], g}, others->product, others->power, Semiring::real));
  } else if (step.is<planner::Raise>()) {
    Terms terms = *raise_slope(writer_, step, options_.semiring);
    terms.factors.push_back(mass_[step.output]);
    add(step.inputs[0], std::move(terms), reach(step));
  } else if (step.is<planner::Gather>()) {
    pass_gathered(step, input);
  } else if (options_.semiring == Semiring::log) {
    pass_log(step, input);
  } else {
    pass_real(step, input);
  }
}

Terms Reverse::shared(const Step& step, std::vector<ValueId> factors) const {
  Terms terms{.factors = std::move(factors)};
  if (!summed(step).empty()) {
    PLATED_ASSERT(multiplied(step).empty());
    terms.added = step.inputs;
    terms.subtracted = {step.output};
  } else if (writer_.schedule().values[step.output].kind == Value::Kind::output) {
    // An output that is zero has no derivative: the weights are 1, but 0 where it is.
    terms.added = step.inputs;
    terms.subtracted = step.inputs;
  } else {
    terms.scale.times = step.as<Contract>()->power.plates;
  }
  return terms;
}

/// A mass that is not negative joins the logarithms where it is the same in many slices: the terms need no
/// multiplication then, and few logarithms are taken.
Terms Reverse::shared_mass(const Step& step) {
  const ValueId g = mass_[step.output];
  const bool slices_share_it = !base::is_subset(writer_.dims(step.output), writer_.dims(g));
  if (!options_.nonnegative || summed(step).empty() || !slices_share_it) return shared(step, {g});
  if (log_mass_[step.output] == none) log_mass_[step.output] = writer_.log_mass(g);
  Terms terms = shared(step, {});
  terms.added.push_back(log_mass_[step.output]);
  return terms;
}

/// A product over plates hands its mass to each slice: where nothing else uses the input, there is nothing to compute.
bool Reverse::passes_as_it_is(const Step& step, ValueId in) const {
  const planner::Schedule& schedule = writer_.schedule();
  if (!summed(step).empty() || !step.as<Contract>()->power.plates.empty() ||
      schedule.values[step.output].kind == Value::Kind::output) {
    return false;
  }
  if (uses_[in] != 1 || target_[in] != none || is_leave_one_out_[in]) return false;
  const SortedSet g = writer_.dims(mass_[step.output]);
  const SortedSet own = base::sorted(mass_dims(in));
  return base::is_subset(g, own) && base::is_subset(writer_.loops(step), unite(g, own));
}

void Reverse::pass_log(const Step& step, std::size_t input) {
  const ValueId g = mass_[step.output];
  const ValueId in = step.inputs[input];
  if (passes_as_it_is(step, in)) {
    mass_[in] = g;
    log_mass_[in] = log_mass_[step.output];
    return;
  }
  if (summed(step).empty() || !options_.nonnegative || !writer_.is_matrix_product(step)) {
    return add(in, shared_mass(step), reach(step));
  }
  if (log_ratio_[step.output] == none) log_ratio_[step.output] = writer_.log_mass(g, step.output);
  std::vector<ValueId> others{log_ratio_[step.output]};
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    if (k != input) others.push_back(step.inputs[k]);
  }
  const ValueId outside = writer_.contract(std::move(others), mass_dims(in), Semiring::log);
  add(in, {.added = {in, outside}}, unite(writer_.dims(in), writer_.dims(outside)));
}

void Reverse::pass_real(const Step& step, std::size_t input) {
  const ValueId g = mass_[step.output];
  const ValueId in = step.inputs[input];
  std::vector<ValueId> factors{g};
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    if (k != input) factors.push_back(step.inputs[k]);
  }
  planner::Scale scale;
  if (!multiplied(step).empty()) {
    PLATED_ASSERT(summed(step).empty());
    const auto& contract = *step.as<Contract>();
    const ValueId slice = writer_.slice_product(step, Semiring::real);
    factors.push_back(writer_.leave_one_out({slice}, contract.product, contract.power, Semiring::real));
    scale.times = contract.power.plates;
  } else if (writer_.is_matrix_product(step)) {
    if (mass_[in] == none) {
      begin_mass(in);
      writer_.contract(std::move(factors), {}, Semiring::real, mass_[in]);
      return;
    }
    const std::vector<DimId> kept = mass_dims(in);
    factors = {writer_.contract(std::move(factors), kept, Semiring::real)};
  }
  // Loops that were summed in a contraction of their own are not counted again.
  SortedSet loops = writer_.dims(in);
  for (const ValueId v : factors) loops = unite(loops, writer_.dims(v));
  add(in, {.factors = std::move(factors), .scale = std::move(scale)}, loops);
}

/// Entries that are read get the masses of all slices that read them, times the product of the other slices.
void Reverse::pass_gathered(const Step& step, std::size_t input) {
  const ValueId in = step.inputs[input];
  ValueId g = mass_[step.output];
  if (options_.semiring == Semiring::real && !multiplied(step).empty()) {
    const Step product = product_of_slices(writer_, step, Semiring::real);
    const ValueId slices = product.inputs[0];
    const ValueId others = writer_.leave_one_out({slices}, multiplied(step), {}, Semiring::real);
    const SortedSet all = unite(writer_.dims(slices), writer_.dims(g));
    g = writer_.contract({g, others}, {all.begin(), all.end()}, Semiring::real);
  }
  const ValueId whole = scatter(writer_, step, input, g, mass_dims(in));
  add(in, {.added = {}, .subtracted = {}, .factors = {whole}}, writer_.dims(whole));
}

std::vector<DimId> Reverse::mass_dims(ValueId value) const {
  std::vector<DimId> dims = writer_.schedule().values[value].dims;
  if (target_[value] == none) dims.insert(dims.begin(), slices_[value].begin(), slices_[value].end());
  return dims;
}

void Reverse::begin_mass(ValueId value) {
  mass_[value] = target_[value] != none ? target_[value] : writer_.add_intermediate(mass_dims(value));
}

void Reverse::add(ValueId value, Terms terms, const SortedSet& loops) {
  const bool first = mass_[value] == none;
  if (first) begin_mass(value);
  terms.scale = terms.scale * scale_[value];
  writer_.weigh(mass_[value], std::move(terms), loops, !first);
}

void Reverse::add(ValueId value, ValueId whole) {
  if (mass_[value] == none) {
    mass_[value] = whole;
  } else {
    add(value, {.factors = {whole}}, writer_.dims(whole));
  }
}

}  // namespace plated::adjoint
