// Turns requests for contractions into steps, shared where they repeat.
#include "planner/schedule_builder.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/checked_size.hpp"
#include "base/watch.hpp"
#include "planner/elimination.hpp"

namespace plated::planner {

using base::contains;
using base::intersect;
using base::subtract;
using base::unite;

std::int64_t Schedule::elements(const std::vector<DimId>& dims) const {
  std::vector<std::int64_t> sizes;
  sizes.reserve(dims.size());
  for (const DimId d : dims) sizes.push_back(problem.size[d]);
  return base::checked_product(sizes);
}

std::vector<DimId> Schedule::loops(const Step& step) const {
  std::vector<DimId> all = values[step.output].dims;
  if (step.kind == Step::Kind::contract) all.insert(all.end(), step.product.begin(), step.product.end());
  all.insert(all.end(), step.sum.begin(), step.sum.end());
  return all;
}

ScheduleBuilder::ScheduleBuilder(Schedule& schedule, const std::set<std::string>& without, bool wide_sums)
    : schedule_(schedule),
      share_(!without.contains("share_steps")),
      wide_sums_(wide_sums),
      fuse_products_(!without.contains("fuse_products")),
      factor_value_(schedule.problem.factors.size(), none) {}

ValueId ScheduleBuilder::add_value(Value value) {
  const auto id = static_cast<ValueId>(schedule_.values.size());
  carried_.push_back(base::sorted(value.dims));
  schedule_.values.push_back(std::move(value));
  return id;
}

void ScheduleBuilder::add_step(Step step) {
  step.component = static_cast<std::uint32_t>(schedule_.components.size() - 1);
  schedule_.steps.push_back(std::move(step));
}

SortedSet ScheduleBuilder::carried_variables(ValueId value) const {
  SortedSet variables;
  for (const DimId d : carried_[value]) {
    if (schedule_.problem.kind[d] == DimKind::variable) variables.push_back(d);
  }
  return variables;
}

ValueId ScheduleBuilder::factor(std::size_t factor) {
  ValueId& known = factor_value_[factor];
  if (known != none) return known;
  const ProblemFactor& source = schedule_.problem.factors[factor];
  if (source.operand < 0) {
    known = add_value({.kind = Value::Kind::intermediate, .dims = source.carried});
    add_step({.kind = Step::Kind::contract, .output = known, .leaf = source.plates});
    return known;
  }
  const auto operand = static_cast<std::size_t>(source.operand);
  Value value{.kind = Value::Kind::operand, .index = operand, .dims = {}};
  for (const DimId d : schedule_.operands[operand]) {
    const bool repeated = std::find(value.dims.begin(), value.dims.end(), d) != value.dims.end();
    if (!repeated && contains(source.carried, d)) value.dims.push_back(d);
  }
  return known = add_value(std::move(value));
}

std::vector<DimId> ScheduleBuilder::axis_order(const std::vector<ValueId>& inputs, const SortedSet& dims) const {
  // The axes follow the largest input, so that one of the two ends of a contraction is streamed in memory order. Plates
  // count with a nominal size: a schedule must not depend on theirs.
  const auto weight = [&](ValueId v) {
    double product = 1;
    for (const DimId d : schedule_.values[v].dims) {
      product *= schedule_.problem.kind[d] == DimKind::variable ? static_cast<double>(schedule_.problem.size[d]) : 64.0;
    }
    return product;
  };
  std::vector<ValueId> by_weight = inputs;
  std::stable_sort(by_weight.begin(), by_weight.end(), [&](ValueId a, ValueId b) { return weight(a) > weight(b); });
  std::vector<DimId> order;
  for (const ValueId v : by_weight) {
    for (const DimId d : schedule_.values[v].dims) {
      if (contains(dims, d) && std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
    }
  }
  return order;
}

Step ScheduleBuilder::analyse(const Contract& request) const {
  Step step{.inputs = request.inputs, .leaf = request.leaf};
  std::sort(step.inputs.begin(), step.inputs.end());
  SortedSet all;
  for (const ValueId v : step.inputs) all = unite(all, carried_[v]);
  for (const DimId d : all) {
    if (schedule_.problem.kind[d] == DimKind::variable && !contains(request.keep, d)) step.sum.push_back(d);
  }
  step.product = intersect(request.product, all);
  step.tied_power = subtract(request.product, all);
  step.power = schedule_.elements(step.tied_power);
  return step;
}

ValueId ScheduleBuilder::contract(Contract request) {
  base::check_wanted();
  if (!fuse_products_ && !request.product.empty()) {
    Contract sum = request;
    sum.product.clear();
    sum.wide = true;
    request.inputs = {contract(std::move(sum))};
  }
  Step step = analyse(request);
  const bool multiplies = !step.product.empty() || !step.tied_power.empty();
  bool wide = request.wide || multiplies || (wide_sums_ && !step.sum.empty());
  SortedSet all;
  for (const ValueId v : step.inputs) {
    wide = wide || schedule_.values[v].precision == Precision::wide;
    all = unite(all, carried_[v]);
  }
  if (step.inputs.size() == 1 && step.sum.empty() && !multiplies &&
      (!wide || schedule_.values[step.inputs[0]].precision == Precision::wide)) {
    return step.inputs[0];
  }
  const SortedSet dims = subtract(subtract(all, step.sum), step.product);
  Key key{step.kind, step.inputs, dims, step.product, step.power, wide};
  if (share_) {
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  step.output = add_value({.kind = Value::Kind::intermediate,
                           .dims = axis_order(step.inputs, dims),
                           .precision = wide ? Precision::wide : Precision::element});
  const ValueId output = step.output;
  known_.emplace(std::move(key), output);
  add_step(std::move(step));
  return output;
}

ValueId ScheduleBuilder::leave_one_out(ValueId input, const SortedSet& plates, const SortedSet& leaf) {
  PLATED_ASSERT(schedule_.values[input].precision == Precision::wide);
  Step step{.kind = Step::Kind::leave_one_out, .inputs = {input}, .leaf = leaf};
  step.product = intersect(plates, carried_[input]);
  step.tied_power = subtract(plates, carried_[input]);
  step.power = schedule_.elements(step.tied_power);
  Key key{step.kind, step.inputs, carried_[input], step.product, step.power, true};
  if (const auto found = known_.find(key); share_ && found != known_.end()) return found->second;
  step.output = add_value(
      {.kind = Value::Kind::intermediate, .dims = schedule_.values[input].dims, .precision = Precision::wide});
  const ValueId output = step.output;
  known_.emplace(std::move(key), output);
  add_step(std::move(step));
  return output;
}

void ScheduleBuilder::deliver(std::size_t output, const Contract& request) {
  PLATED_ASSERT(request.product.empty());
  Step step = analyse(request);
  Value value{.kind = Value::Kind::output, .index = output, .dims = {}};
  for (const DimId d : schedule_.outputs[output]) {
    const bool unit = schedule_.problem.size[d] == 1;
    if (!unit ||
        std::any_of(step.inputs.begin(), step.inputs.end(), [&](ValueId v) { return contains(carried_[v], d); })) {
      value.dims.push_back(d);
    }
  }
  step.output = add_value(std::move(value));
  add_step(std::move(step));
}

}  // namespace plated::planner
