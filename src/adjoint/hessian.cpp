// Tangents forward, then tangents of masses backward.
#include "adjoint/hessian.hpp"

#include "adjoint/gathered.hpp"
#include "adjoint/raise_slope.hpp"

namespace plated::adjoint {

using planner::LeaveOneOut;

namespace {

bool multiplies(const Step& step) { return step.is<Contract>() && !multiplied(step).empty(); }

}  // namespace

Hessian::Hessian(StepWriter& writer, const Reverse& reverse, Semiring semiring)
    : writer_(writer),
      reverse_(reverse),
      semiring_(semiring),
      tangent_(writer.schedule().values.size(), none),
      curved_(writer.schedule().values.size(), none),
      answer_(writer.schedule().values.size(), none),
      products_(writer.schedule().values.size()) {}

void Hessian::run() {
  planner::Schedule& schedule = writer_.schedule();
  const std::size_t factors = schedule.graph.factors().size();
  for (std::size_t f = 0; f < factors; ++f) {
    const ValueId value = reverse_.operand_value(f);
    std::vector<DimId> axes = schedule.operands[f];
    if (value == none || schedule.is_index(f)) {
      schedule.operands.push_back(std::move(axes));
    } else {
      tangent_[value] = writer_.add_operand(std::move(axes), value);
    }
  }
  std::vector<ValueId> output_value(schedule.graph.outputs().size(), none);
  for (std::size_t s = 0; s < reverse_.forward_steps(); ++s) {
    const Value& value = schedule.values[schedule.steps[s].output];
    if (value.kind == Value::Kind::output) output_value[value.index] = schedule.steps[s].output;
  }
  for (std::size_t o = 0; o < output_value.size(); ++o) {
    const ValueId answer = writer_.add_output(std::vector<DimId>(schedule.outputs[o]));
    if (output_value[o] != none) answer_[output_value[o]] = answer;
  }
  for (std::size_t f = 0; f < factors; ++f) {
    const ValueId answer = writer_.add_output(std::vector<DimId>(schedule.operands[f]));
    if (reverse_.operand_value(f) != none) answer_[reverse_.operand_value(f)] = answer;
  }
  take_tangents();
  for (std::size_t s = reverse_.forward_steps(); s-- > 0;) {
    if (const Slices* slices = reverse_.scans().ended_by(s)) curve_along(*slices);
    if (schedule.steps[s].is<planner::Scan>()) continue;
    curve(writer_.step(s), [&](ValueId in) { return in != reverse_.scans().messages_in(s); });
  }
}

void Hessian::take_tangents() {
  auto next = reverse_.scans().list().begin();
  for (std::size_t s = 0; s < reverse_.forward_steps(); ++s) {
    if (next != reverse_.scans().list().end() && next->scan == s) {
      tangents_along(*next++);
    } else {
      tangent_of(writer_.step(s));
    }
  }
}

void Hessian::add(std::vector<ValueId>& list, ValueId value, Terms terms, const SortedSet& loops) {
  const bool first = list[value] == none;
  if (first) {
    // Tangents of operands are given, and masses of outputs are: an answer serves one of the two lists only.
    list[value] = answer_[value] != none ? answer_[value]
                                         : writer_.add_intermediate(std::vector(writer_.schedule().values[value].dims));
  }
  writer_.weigh(list[value], std::move(terms), loops, !first);
}

void Hessian::add_whole(std::vector<ValueId>& list, ValueId value, ValueId whole) {
  if (list[value] == none) {
    list[value] = whole;
  } else {
    add(list, value, {.factors = {whole}}, writer_.dims(whole));
  }
}

void Hessian::add_slope(std::vector<ValueId>& list, ValueId value, const Step& step,
                        const std::vector<ValueId>& factors, int order) {
  std::optional<Terms> terms = raise_slope(writer_, step, semiring_, order);
  if (!terms) return;
  terms->factors.insert(terms->factors.end(), factors.begin(), factors.end());
  add(list, value, std::move(*terms), writer_.loops(step));
}

std::vector<ValueId> Hessian::inputs_but(const Step& step, std::size_t input, std::size_t tangent) const {
  std::vector<ValueId> list;
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    if (k != input) list.push_back(k == tangent ? tangent_[step.inputs[k]] : step.inputs[k]);
  }
  return list;
}

const Hessian::Products& Hessian::products(const Step& step) {
  Products& known = products_[step.output];
  if (known.product != none) return known;
  const planner::Schedule& schedule = writer_.schedule();
  const SortedSet loops = writer_.loops(step);
  known.product = writer_.slice_product(step, Semiring::real);
  const auto& contract = *step.as<Contract>();
  known.others = writer_.leave_one_out({known.product}, contract.product, contract.power, Semiring::real);
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    if (tangent_[step.inputs[k]] == none) continue;
    std::vector<ValueId> factors = inputs_but(step, k);
    factors.push_back(tangent_[step.inputs[k]]);
    const bool first = known.product_tangent == none;
    if (first) known.product_tangent = writer_.add_intermediate(std::vector(schedule.values[known.product].dims));
    writer_.weigh(known.product_tangent, {.factors = std::move(factors)}, loops, !first);
  }
  if (known.product_tangent != none) {
    known.others_tangent =
        writer_.leave_one_out({known.product, known.product_tangent}, contract.product, contract.power, Semiring::real);
  }
  return known;
}

void Hessian::tangent_of(const Step& step) {
  const SortedSet loops = writer_.loops(step);
  if (const auto* others = step.as<LeaveOneOut>()) {
    const ValueId t = tangent_[step.inputs[0]];
    if (t == none) return;
    tangent_[step.output] =
        semiring_ == Semiring::log
            ? writer_.leave_one_out({t}, others->product, others->power, Semiring::max_plus)
            : writer_.leave_one_out({step.inputs[0], t}, others->product, others->power, Semiring::real);
    return;
  }
  if (step.is<planner::Raise>()) {
    if (tangent_[step.inputs[0]] != none) add_slope(tangent_, step.output, step, {tangent_[step.inputs[0]]});
    return;
  }
  if (step.is<planner::Gather>()) return tangent_of_gathered(step);
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    const ValueId t = tangent_[step.inputs[k]];
    if (t == none) continue;
    if (semiring_ == Semiring::log) {
      add(tangent_, step.output, reverse_.shared(step, {t}), loops);
      continue;
    }
    Terms terms{.factors = inputs_but(step, k)};
    terms.factors.push_back(t);
    if (multiplies(step)) {
      terms.factors.push_back(products(step).others);
      terms.scale.times = step.as<Contract>()->power.plates;
    }
    add(tangent_, step.output, std::move(terms), loops);
  }
}

void Hessian::curve(const Step& step, const Accepts& accepts) {
  const ValueId g = reverse_.mass(step.output);
  if (g == none) return;
  const ValueId c = curved_[step.output];
  if (const auto* others = step.as<LeaveOneOut>()) {
    const ValueId in = step.inputs[0];
    const auto linear = [&](std::vector<ValueId> inputs, Semiring semiring) {
      add_whole(curved_, in, writer_.leave_one_out(std::move(inputs), others->product, others->power, semiring));
    };
    if (c != none && semiring_ == Semiring::log) linear({c}, Semiring::max_plus);
    if (c != none && semiring_ == Semiring::real) linear({in, c}, Semiring::real);
    if (semiring_ == Semiring::real && tangent_[in] != none) linear({in, g, tangent_[in]}, Semiring::real);
    return;
  }
  if (step.is<planner::Raise>()) {
    const ValueId in = step.inputs[0];
    if (c != none) add_slope(curved_, in, step, {c});
    if (tangent_[in] != none) add_slope(curved_, in, step, {g, tangent_[in]}, 2);
    return;
  }
  if (step.is<planner::Gather>()) return curve_gathered(step);
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    if (!accepts(step.inputs[k])) continue;
    if (semiring_ == Semiring::log) {
      curve_log(step, k);
    } else {
      curve_real(step, k);
    }
  }
}

Step Hessian::product_of_gathered(const Step& step) {
  const bool partial = step.as<planner::Gather>()->partial;
  Step product = product_of_slices(writer_, step, Semiring::real);
  const ValueId slices = product.inputs[0];
  const ValueId rest = partial ? tangent_[step.inputs.back()] : none;
  const ValueId tangent = gather(writer_, step, tangent_[step.inputs[0]], rest, {}, Semiring::max_plus);
  const std::size_t values = writer_.schedule().values.size();
  for (auto* list : {&tangent_, &curved_, &answer_}) list->resize(values, none);
  products_.resize(values);
  tangent_[slices] = tangent;
  return product;
}

/// It is linear, but for products in the real semiring. Sums of tangents are the products of max-plus.
void Hessian::tangent_of_gathered(const Step& step) {
  const ValueId table = tangent_[step.inputs[0]];
  if (table == none) return;
  if (semiring_ == Semiring::real && !multiplied(step).empty()) return tangent_of(product_of_gathered(step));
  const bool partial = step.as<planner::Gather>()->partial;
  const ValueId rest = partial ? tangent_[step.inputs.back()] : none;
  tangent_[step.output] = gather(writer_, step, table, rest, multiplied(step), Semiring::max_plus);
}

void Hessian::curve_gathered(const Step& step) {
  ValueId curved = curved_[step.output];
  if (semiring_ == Semiring::real && !multiplied(step).empty()) {
    const Step product = product_of_gathered(step);
    curve_real(product, 0);
    curved = curved_[product.inputs[0]];
  }
  if (curved == none) return;
  for (const std::size_t k : numbers_of(step)) {
    const ValueId in = step.inputs[k];
    const ValueId whole = scatter(writer_, step, k, curved, writer_.schedule().values[in].dims);
    add(curved_, in, {.added = {}, .subtracted = {}, .factors = {whole}}, writer_.dims(whole));
  }
}

/// The mass is shared by weights w = exp(Σ in − out), and dw = w · (Σ d in − d out).
void Hessian::curve_log(const Step& step, std::size_t input) {
  const ValueId in = step.inputs[input];
  const ValueId g = reverse_.mass(step.output);
  const ValueId c = curved_[step.output];
  const SortedSet loops = writer_.loops(step);
  if (c != none) add(curved_, in, reverse_.shared(step, {c}), loops);
  if (summed(step).empty()) return;
  for (const ValueId other : step.inputs) {
    if (tangent_[other] != none) add(curved_, in, reverse_.shared(step, {g, tangent_[other]}), loops);
  }
  if (tangent_[step.output] != none) {
    Terms terms = reverse_.shared(step, {g, tangent_[step.output]});
    terms.scale.number = -1;
    add(curved_, in, std::move(terms), loops);
  }
}

/// The product rule, factor by factor.
void Hessian::curve_real(const Step& step, std::size_t input) {
  const ValueId in = step.inputs[input];
  const ValueId g = reverse_.mass(step.output);
  const ValueId c = curved_[step.output];
  const SortedSet loops = writer_.loops(step);
  const Products of = multiplies(step) ? products(step) : Products{};
  const auto add_product = [&](std::vector<ValueId> factors, ValueId mass, ValueId others) {
    if (mass == none || (multiplies(step) && others == none)) return;
    factors.push_back(mass);
    if (multiplies(step)) factors.push_back(others);
    add(curved_, in,
        {.added = {},
         .subtracted = {},
         .factors = std::move(factors),
         .scale = {.times = step.as<Contract>()->power.plates}},
        loops);
  };
  add_product(inputs_but(step, input), c, of.others);
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    if (k != input && tangent_[step.inputs[k]] != none) add_product(inputs_but(step, input, k), g, of.others);
  }
  if (multiplies(step)) add_product(inputs_but(step, input), g, of.others_tangent);
}

}  // namespace plated::adjoint
