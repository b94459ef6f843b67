// Writes steps with the bookkeeping of slices that only some inputs carry.
#include "adjoint/step_writer.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "engine/kernel.hpp"

namespace plated::adjoint {

using base::contains;
using base::subtract;
using base::unite;
using planner::Precision;

StepWriter::StepWriter(planner::Schedule& schedule) : schedule_(schedule) {
  engine::use_sweep_kernels();
  schedule_.components.push_back({});
  // Most sweeps append about twice as many as there are. Lists of a large network that grow step by step are moved
  // while both copies exist; room that is never written takes no memory.
  schedule_.steps.reserve(4 * schedule_.steps.size());
  schedule_.values.reserve(4 * schedule_.values.size());
}

SortedSet StepWriter::dims(ValueId value) const { return base::sorted(schedule_.values[value].dims); }

SortedSet StepWriter::loops(const Step& step) const { return base::sorted(schedule_.loops(step)); }

ValueId StepWriter::add_value(Value value) {
  schedule_.values.push_back(std::move(value));
  return static_cast<ValueId>(schedule_.values.size() - 1);
}

void StepWriter::add(planner::Operation operation, std::vector<ValueId> inputs, ValueId output) {
  schedule_.steps.push_back({.operation = std::move(operation),
                             .inputs = std::move(inputs),
                             .output = output,
                             .component = static_cast<std::uint32_t>(schedule_.components.size() - 1)});
}

ValueId StepWriter::add_operand(std::vector<DimId> axes, ValueId like) {
  schedule_.operands.push_back(std::move(axes));
  return add_value(
      {.kind = Value::Kind::operand, .index = schedule_.operands.size() - 1, .dims = schedule_.values[like].dims});
}

ValueId StepWriter::add_operand(std::vector<DimId> dims, Precision precision) {
  schedule_.operands.push_back(dims);
  return add_value({.kind = Value::Kind::operand,
                    .index = schedule_.operands.size() - 1,
                    .dims = std::move(dims),
                    .precision = precision});
}

ValueId StepWriter::add_output(std::vector<DimId> axes) {
  Value value{.kind = Value::Kind::output, .index = schedule_.outputs.size(), .dims = {}};
  for (const DimId d : axes) {
    const bool repeated = std::find(value.dims.begin(), value.dims.end(), d) != value.dims.end();
    if (!repeated && !contains(schedule_.problem.absent, d)) value.dims.push_back(d);
  }
  schedule_.outputs.push_back(std::move(axes));
  return add_value(std::move(value));
}

ValueId StepWriter::add_intermediate(std::vector<DimId> dims, Precision precision) {
  return add_value({.kind = Value::Kind::intermediate, .dims = std::move(dims), .precision = precision});
}

void StepWriter::weigh(ValueId out, Terms terms, const SortedSet& loops, bool accumulate) {
  std::vector<ValueId> inputs = std::move(terms.added);
  planner::Weigh weigh{.added = static_cast<std::uint32_t>(inputs.size()),
                       .subtracted = static_cast<std::uint32_t>(terms.subtracted.size()),
                       .accumulate = accumulate,
                       .surprisal = terms.surprisal};
  inputs.insert(inputs.end(), terms.subtracted.begin(), terms.subtracted.end());
  inputs.insert(inputs.end(), terms.factors.begin(), terms.factors.end());
  SortedSet carried;
  for (const ValueId v : inputs) carried = unite(carried, dims(v));
  const SortedSet kept = dims(out);
  weigh.sum = subtract(carried, kept);
  weigh.scale = terms.scale * planner::Scale{.times = subtract(subtract(loops, carried), kept),
                                             .over = subtract(subtract(kept, loops), carried)};
  add(std::move(weigh), std::move(inputs), out);
}

ValueId StepWriter::contract(std::vector<ValueId> inputs, const std::vector<DimId>& kept, Semiring semiring,
                             ValueId out) {
  SortedSet carried;
  bool wide = semiring == Semiring::real;
  for (const ValueId v : inputs) {
    carried = unite(carried, dims(v));
    wide = wide || schedule_.values[v].precision == Precision::wide;
  }
  if (out == none) {
    std::vector<DimId> axes = kept;
    std::erase_if(axes, [&](DimId d) { return !contains(carried, d); });
    out = add_intermediate(std::move(axes), wide ? Precision::wide : Precision::element);
  }
  add(planner::Contract{.sum = subtract(carried, dims(out)), .semiring = semiring}, std::move(inputs), out);
  return out;
}

ValueId StepWriter::zero() {
  const ValueId out = add_intermediate({});
  add(planner::Contract{.empty_sum = true, .semiring = Semiring::real}, {}, out);
  return out;
}

ValueId StepWriter::leave_one_out(std::vector<ValueId> inputs, const SortedSet& product, const planner::Power& power,
                                  Semiring semiring) {
  const ValueId out = add_intermediate(schedule_.values[inputs[0]].dims);
  PLATED_ASSERT(schedule_.values[inputs[0]].precision == Precision::wide);
  add(planner::LeaveOneOut{.product = product, .power = power, .semiring = semiring}, std::move(inputs), out);
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
  std::vector<ValueId> inputs{mass};
  if (normaliser != none) {
    for (const DimId d : schedule_.values[normaliser].dims) {
      if (std::find(axes.begin(), axes.end(), d) == axes.end()) axes.push_back(d);
    }
    precision = schedule_.values[normaliser].precision;
    inputs.push_back(normaliser);
  }
  const ValueId out = add_intermediate(std::move(axes), precision);
  add(planner::LogMass{}, std::move(inputs), out);
  return out;
}

bool StepWriter::is_matrix_product(const Step& step) const {
  constexpr double worth_packing = 4;
  double largest = nominal_elements(dims(step.output));
  for (const ValueId v : step.inputs) largest = std::max(largest, nominal_elements(dims(v)));
  return step.inputs.size() > 1 && nominal_elements(loops(step)) > worth_packing * largest;
}

double StepWriter::nominal_elements(const SortedSet& dims) const {
  double product = 1;
  for (const DimId d : dims) product *= schedule_.problem.nominal_size(d);
  return product;
}

}  // namespace plated::adjoint
