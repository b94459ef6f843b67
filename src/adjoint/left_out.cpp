// Repeats steps with other inputs.
#include "adjoint/left_out.hpp"

#include <algorithm>
#include <memory>

#include "adjoint/gathered.hpp"

namespace plated::adjoint {

using base::contains;
using planner::Scan;

LeftOut::LeftOut(StepWriter& writer, std::optional<DimId> plate)
    : writer_(writer),
      plate_(plate),
      is_absent_(plate && contains(writer.schedule().problem.absent, *plate)),
      without_(writer.schedule().values.size(), none),
      gone_(writer.schedule().values.size(), false) {
  if (is_absent_) find_gone();
}

bool LeftOut::changes(const Step& step) const {
  return std::any_of(step.inputs.begin(), step.inputs.end(),
                     [&](ValueId v) { return gone_[v] || without_[v] != none; });
}

void LeftOut::repeat(const Step& step) {
  if (plate_ && contains(multiplied(step), *plate_)) return leave_out_slice(step);
  if (!changes(step)) return;
  if (step.is<Scan>()) return repeat_scan(step);
  if (is_absent_ || !plate_) return leave_out_single(step);
  without_[step.output] = repeat(step.operation, replaced(step), step.output);
}

std::vector<ValueId> LeftOut::replaced(const Step& step) const {
  std::vector<ValueId> inputs;
  for (const ValueId v : step.inputs) {
    if (!gone_[v]) inputs.push_back(without(v));
  }
  return inputs;
}

bool LeftOut::has_plate(const std::vector<ValueId>& values) const {
  return plate_ &&
         std::any_of(values.begin(), values.end(), [&](ValueId v) { return contains(writer_.dims(v), *plate_); });
}

/// An operation on other inputs; its value has the dims of `like`, and the plate in front of them where an input does.
ValueId LeftOut::repeat(planner::Operation operation, std::vector<ValueId> inputs, ValueId like) {
  std::vector<DimId> dims = writer_.schedule().values[like].dims;
  if (has_plate(inputs)) dims.insert(dims.begin(), *plate_);
  const ValueId output = writer_.add_intermediate(std::move(dims));
  writer_.add(std::move(operation), std::move(inputs), output);
  return output;
}

void LeftOut::leave_out_slice(const Step& step) {
  if (step.is<planner::Gather>()) return leave_out_slice(product_of_slices(writer_, step, Semiring::log));
  Contract contract = *step.as<Contract>();
  std::vector<ValueId> inputs = step.inputs;
  if (contains(contract.product, *plate_)) {
    const Semiring semiring = contract.semiring.value_or(Semiring::log);  // exponents are added up in their own
    const ValueId slice = writer_.slice_product(step, semiring);
    inputs = {writer_.leave_one_out({slice}, {*plate_}, {}, semiring)};
    std::erase(contract.product, *plate_);
  } else {
    // The same in every slice: one time fewer.
    contract.power.leaves_out = true;
    contract.power.left_out = *plate_;
  }
  without_[step.output] = repeat(std::move(contract), std::move(inputs), step.output);
}

bool LeftOut::is_in_plate(DimId variable) const {
  return plate_ && contains(writer_.schedule().graph.variable_plates()[variable], *plate_);
}

/// Operands in the plate, and the ones of its variables that no factor holds.
void LeftOut::find_gone() {
  const Schedule& schedule = writer_.schedule();
  for (std::size_t v = 0; v < gone_.size(); ++v) {
    const Value& value = schedule.values[v];
    if (value.kind != Value::Kind::operand || value.index >= schedule.graph.factors().size()) continue;
    gone_[v] = contains(schedule.graph.factor_plates(value.index), *plate_);
  }
  for (const Step& step : schedule.steps) {
    const Value& ones = schedule.values[step.output];
    if (step.inputs.empty() && ones.kind == Value::Kind::intermediate) gone_[step.output] = is_in_plate(ones.dims[0]);
  }
}

/// Repeats a step without the inputs that are gone.
void LeftOut::leave_out_single(const Step& step) {
  std::vector<ValueId> inputs = replaced(step);
  planner::Operation operation = step.operation;
  const auto carried = [&] {
    SortedSet dims;
    for (const ValueId v : inputs) dims = base::unite(dims, writer_.dims(v));
    return dims;
  };
  if (auto* contract = std::get_if<Contract>(&operation)) {
    // A variable outside of the plate that nothing holds any more is summed as before.
    for (const DimId v : base::subtract(contract->sum, carried())) {
      if (is_in_plate(v)) continue;
      inputs.push_back(writer_.add_intermediate({v}));
      writer_.add(Contract{}, {}, inputs.back());
    }
    contract->sum = base::intersect(contract->sum, carried());
    contract->power.plates = base::unite(contract->power.plates, base::subtract(contract->product, carried()));
    contract->product = base::intersect(contract->product, carried());
  }
  const bool is_of_first = step.is<planner::Raise>() || step.is<planner::Gather>();
  if (inputs.empty() || (is_of_first && gone_[step.inputs[0]])) {
    gone_[step.output] = true;
    return;
  }
  std::vector<DimId> dims = writer_.schedule().values[step.output].dims;
  std::erase_if(dims, [&, kept = carried()](DimId d) { return !contains(kept, d); });
  without_[step.output] = writer_.add_intermediate(std::move(dims));
  writer_.add(std::move(operation), std::move(inputs), without_[step.output]);
}

ValueId LeftOut::ones_for(ValueId gone) {
  std::vector<DimId> dims = writer_.schedule().values[gone].dims;
  std::erase_if(dims,
                [&](DimId d) { return writer_.schedule().problem.kind[d] != DimKind::variable || is_in_plate(d); });
  const ValueId ones = writer_.add_intermediate(std::move(dims));
  writer_.add(Contract{}, {}, ones);
  return ones;
}

/// Its messages tell the plate's slices apart where an input does, and its body reads ones for what is gone. Where the
/// plate's only slice is left out, they are over the states of the links outside of it.
void LeftOut::repeat_scan(const Step& step) {
  Scan scan = *step.as<Scan>();
  const auto leave = [&](std::vector<DimId>& dims) {
    if (is_absent_) std::erase_if(dims, [&](DimId d) { return is_in_plate(d); });
  };
  for (std::vector<DimId>* dims : {&scan.kept, &scan.before, &scan.after, &scan.start}) leave(*dims);
  if (scan.after.empty()) {
    gone_[step.output] = true;
    return;
  }
  scan.messages = scan.shifts = scan.results = none;
  std::vector<ValueId> inputs;
  for (std::size_t k = 0; k < step.inputs.size(); ++k) {
    const ValueId v = step.inputs[k];
    if (k == 0 && scan.starts && gone_[v]) continue;
    inputs.push_back(gone_[v] ? ones_for(v) : without(v));
  }
  if (scan.starts) scan.starts = !gone_[step.inputs[0]];
  const bool numbered = has_plate(inputs);
  const auto number = [&](std::vector<DimId>& dims) {
    if (numbered) dims.insert(dims.begin(), *plate_);
  };
  number(scan.kept);
  auto body = std::make_shared<Schedule>(*scan.body);
  std::vector<ValueId> of_operand(body->operands.size(), none);
  std::size_t next = (scan.starts ? 1 : 0) + (scan.ragged ? 1 : 0);
  for (std::size_t k = 0; k < of_operand.size(); ++k) {
    if (k != scan.message) of_operand[k] = inputs[next++];
  }
  for (Value& value : body->values) {
    if (value.kind == Value::Kind::operand && value.index >= of_operand.size()) continue;  // nothing reads it any more
    if (value.kind == Value::Kind::output || (value.kind == Value::Kind::operand && value.index == scan.message)) {
      leave(value.dims);
      number(value.dims);
    } else if (value.kind == Value::Kind::operand) {
      value.dims = writer_.schedule().values[of_operand[value.index]].dims;
      value.precision = writer_.schedule().values[of_operand[value.index]].precision;
      std::erase(value.dims, scan.chain);
    }
    if (value.kind == Value::Kind::operand) body->operands[value.index] = value.dims;
  }
  leave(body->outputs[0]);
  number(body->outputs[0]);
  for (Step& each : body->steps) {
    SortedSet carried;
    for (const ValueId v : each.inputs) carried = base::unite(carried, base::sorted(body->values[v].dims));
    if (auto* contract = std::get_if<Contract>(&each.operation))
      contract->sum = base::intersect(contract->sum, carried);
    Value& value = body->values[each.output];
    if (value.kind == Value::Kind::output) continue;
    std::erase_if(value.dims, [&](DimId d) { return !contains(carried, d); });
    if (numbered && contains(carried, *plate_)) number(value.dims);
  }
  scan.body = std::move(body);
  std::vector<DimId> dims = writer_.schedule().values[step.output].dims;
  leave(dims);
  number(dims);
  without_[step.output] = writer_.add_intermediate(std::move(dims));
  writer_.add(std::move(scan), std::move(inputs), without_[step.output]);
}

}  // namespace plated::adjoint
