// Writes steps with the bookkeeping of slices that only some inputs carry.
#include "adjoint/step_writer.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace plated::adjoint {

using base::contains;
using base::subtract;
using base::unite;
using planner::Precision;
using planner::Step;
using planner::Value;

StepWriter::StepWriter(planner::Schedule& schedule) : schedule_(schedule) { schedule_.components.push_back({}); }

SortedSet StepWriter::dims(ValueId value) const { return base::sorted(schedule_.values[value].dims); }

SortedSet StepWriter::loops(const Step& step) const { return base::sorted(schedule_.loops(step)); }

ValueId StepWriter::add_value(Value value) {
  schedule_.values.push_back(std::move(value));
  return static_cast<ValueId>(schedule_.values.size() - 1);
}

void StepWriter::add_step(Step step) {
  step.component = static_cast<std::uint32_t>(schedule_.components.size() - 1);
  schedule_.steps.push_back(std::move(step));
}

ValueId StepWriter::add_operand(std::vector<DimId> axes, ValueId like) {
  schedule_.operands.push_back(std::move(axes));
  return add_value(
      {.kind = Value::Kind::operand, .index = schedule_.operands.size() - 1, .dims = schedule_.values[like].dims});
}

ValueId StepWriter::add_output(std::vector<DimId> axes) {
  Value value{.kind = Value::Kind::output, .index = schedule_.outputs.size(), .dims = {}};
  for (const DimId d : axes) {
    const bool repeated = std::find(value.dims.begin(), value.dims.end(), d) != value.dims.end();
    if (!repeated && schedule_.problem.size[d] != 1) value.dims.push_back(d);
  }
  schedule_.outputs.push_back(std::move(axes));
  return add_value(std::move(value));
}

ValueId StepWriter::add_intermediate(std::vector<DimId> dims, Precision precision) {
  return add_value({.kind = Value::Kind::intermediate, .dims = std::move(dims), .precision = precision});
}

void StepWriter::weigh(ValueId out, Terms terms, const SortedSet& loops, bool accumulate) {
  Step step{.kind = Step::Kind::weigh, .inputs = std::move(terms.added), .output = out};
  step.added = static_cast<std::uint32_t>(step.inputs.size());
  step.subtracted = static_cast<std::uint32_t>(terms.subtracted.size());
  step.inputs.insert(step.inputs.end(), terms.subtracted.begin(), terms.subtracted.end());
  step.inputs.insert(step.inputs.end(), terms.factors.begin(), terms.factors.end());
  SortedSet carried;
  for (const ValueId v : step.inputs) carried = unite(carried, dims(v));
  const SortedSet kept = dims(out);
  step.sum = subtract(carried, kept);
  step.scale = terms.scale * elements(subtract(subtract(loops, carried), kept)) /
               elements(subtract(subtract(kept, loops), carried));
  step.accumulate = accumulate;
  step.surprisal = terms.surprisal;
  add_step(std::move(step));
}

ValueId StepWriter::contract(std::vector<ValueId> inputs, const std::vector<DimId>& kept, Semiring semiring,
                             ValueId out) {
  Step step{.kind = Step::Kind::contract, .inputs = std::move(inputs)};
  SortedSet carried;
  bool wide = semiring == Semiring::real;
  for (const ValueId v : step.inputs) {
    carried = unite(carried, dims(v));
    wide = wide || schedule_.values[v].precision == Precision::wide;
  }
  if (out == none) {
    std::vector<DimId> axes = kept;
    std::erase_if(axes, [&](DimId d) { return !contains(carried, d); });
    out = add_intermediate(std::move(axes), wide ? Precision::wide : Precision::element);
  }
  step.output = out;
  step.sum = subtract(carried, dims(out));
  step.semiring = semiring;
  add_step(std::move(step));
  return out;
}

ValueId StepWriter::leave_one_out(std::vector<ValueId> inputs, const SortedSet& product, std::int64_t power,
                                  Semiring semiring) {
  const ValueId out = add_intermediate(schedule_.values[inputs[0]].dims);
  PLATED_ASSERT(schedule_.values[inputs[0]].precision == Precision::wide);
  add_step({.kind = Step::Kind::leave_one_out,
            .inputs = std::move(inputs),
            .output = out,
            .product = product,
            .power = power,
            .semiring = semiring});
  return out;
}

ValueId StepWriter::slice_product(const Step& step, Semiring semiring) {
  if (step.inputs.size() == 1 && schedule_.values[step.inputs[0]].precision == Precision::wide) return step.inputs[0];
  const SortedSet all = loops(step);
  return contract(step.inputs, {}, semiring, add_intermediate({all.begin(), all.end()}));
}

ValueId StepWriter::log_mass(ValueId mass, ValueId normaliser) {
  std::vector<DimId> axes = schedule_.values[mass].dims;
  Precision precision = Precision::wide;
  Step step{.kind = Step::Kind::log_mass, .inputs = {mass}};
  if (normaliser != none) {
    for (const DimId d : schedule_.values[normaliser].dims) {
      if (std::find(axes.begin(), axes.end(), d) == axes.end()) axes.push_back(d);
    }
    precision = schedule_.values[normaliser].precision;
    step.inputs.push_back(normaliser);
  }
  step.output = add_intermediate(std::move(axes), precision);
  const ValueId out = step.output;
  add_step(std::move(step));
  return out;
}

bool StepWriter::is_matrix_product(const Step& step) const {
  constexpr double worth_packing = 4;
  double largest = elements(dims(step.output));
  for (const ValueId v : step.inputs) largest = std::max(largest, elements(dims(v)));
  return step.inputs.size() > 1 && elements(loops(step)) > worth_packing * largest;
}

double StepWriter::elements(const SortedSet& dims) const {
  double product = 1;
  for (const DimId d : dims) product *= static_cast<double>(schedule_.problem.size[d]);
  return product;
}

}  // namespace plated::adjoint
