// Turns requests for contractions into steps, shared where they repeat.
#include "planner/schedule_builder.hpp"

#include <algorithm>
#include <iterator>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "base/watch.hpp"
#include "planner/elimination.hpp"
#include "planner/point_ends.hpp"

namespace plated::planner {

using base::contains;
using base::intersect;
using base::subtract;
using base::unite;

namespace {

template <class Kind>
std::size_t hash_of(const Kind& operation, const std::vector<ValueId>& inputs) {
  base::Hash hash;
  hash.add(inputs);
  hash.add(operation.product);
  return hash.value();
}

}  // namespace

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

void ScheduleBuilder::add_step(Operation operation, std::vector<ValueId> inputs, ValueId output) {
  schedule_.steps.push_back({.operation = std::move(operation),
                             .inputs = std::move(inputs),
                             .output = output,
                             .component = static_cast<std::uint32_t>(schedule_.components.size() - 1)});
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
  if (source.holds_equal) return known = equality(*source.in_slice_of, source.plates);
  if (source.operand < 0) return known = ones(source.carried, source.plates);
  const auto operand = static_cast<std::size_t>(source.operand);
  Value value{.kind = Value::Kind::operand, .index = operand, .dims = {}};
  for (const DimId d : schedule_.operands[operand]) {
    const bool repeated = std::find(value.dims.begin(), value.dims.end(), d) != value.dims.end();
    if (!repeated && (contains(source.carried, d) || contains(source.observed, d))) value.dims.push_back(d);
  }
  ValueId whole = add_value(std::move(value));
  if (!source.observed.empty()) whole = gather(whole, source);
  if (!source.in_slice_of) return known = whole;
  const ValueId wide =
      contract({.inputs = {whole}, .keep = carried_variables(whole), .leaf = source.plates, .wide = true});
  return known = raise(wide, {.factors = {weights(*source.in_slice_of)}, .counted = {}}, 0, source.plates);
}

ValueId ScheduleBuilder::gather(ValueId table, const ProblemFactor& source) {
  Gather step{.variables = source.observed, .leaf = source.plates};
  std::vector<ValueId> inputs{table};
  // Slices first: a row of the table's other states is read, and written, for each.
  std::vector<DimId> dims;
  const auto add_dims = [&](ValueId value) {
    for (const DimId d : schedule_.values[value].dims) {
      const bool known = std::find(dims.begin(), dims.end(), d) != dims.end();
      if (!known && !contains(source.observed, d)) dims.push_back(d);
    }
  };
  for (const DimId v : source.observed) {
    const Observation& observation = schedule_.observations.at(v);
    const auto [known, is_new] = index_value_.try_emplace(v, none);
    if (is_new) {
      std::vector<DimId> axes = schedule_.operands[observation.operand];
      std::erase_if(axes, [&](DimId d) { return contains(schedule_.problem.absent, d); });
      known->second = operand(observation.operand, std::move(axes), Precision::element);
    }
    inputs.push_back(known->second);
    add_dims(inputs.back());
    step.partial = step.partial || observation.partial;
  }
  add_dims(table);
  if (step.partial) {
    const SortedSet others = subtract(carried_variables(table), source.observed);
    inputs.push_back(contract({.inputs = {table}, .keep = others, .product = {}, .leaf = source.plates}));
  }
  const ValueId output = intermediate(std::move(dims), Precision::element);
  add_step(std::move(step), std::move(inputs), output);
  return output;
}

ValueId ScheduleBuilder::ones(const SortedSet& dims, const SortedSet& leaf) {
  const ValueId value = add_value({.kind = Value::Kind::intermediate, .dims = dims});
  add_step(planner::Contract{.leaf = leaf}, {}, value);
  return value;
}

ValueId ScheduleBuilder::equality(DimId end, const SortedSet& plates) {
  const ValueId zero = intermediate({}, Precision::wide);
  add_step(planner::Contract{.leaf = plates, .empty_sum = true}, {}, zero);
  return raise(zero, {.factors = {weights(end), weights(differing(end))}, .counted = {}}, 0, plates);
}

std::vector<DimId> ScheduleBuilder::axis_order(const std::vector<ValueId>& inputs, const SortedSet& dims) const {
  // The axes follow the largest input, so that one of the two ends of a contraction is streamed in memory order.
  const auto weight = [&](ValueId v) {
    double product = 1;
    for (const DimId d : schedule_.values[v].dims) product *= schedule_.problem.nominal_size(d);
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

std::pair<std::vector<ValueId>, planner::Contract> ScheduleBuilder::analyse(const Contract& request) const {
  std::vector<ValueId> inputs = request.inputs;
  std::sort(inputs.begin(), inputs.end());
  planner::Contract step{.leaf = request.leaf};
  SortedSet all;
  for (const ValueId v : inputs) all = unite(all, carried_[v]);
  for (const DimId d : all) {
    if (schedule_.problem.kind[d] == DimKind::variable && !contains(request.keep, d)) step.sum.push_back(d);
  }
  step.product = intersect(request.product, all);
  step.power.plates = subtract(request.product, all);
  return {std::move(inputs), std::move(step)};
}

template <class Kind>
ValueId ScheduleBuilder::find_known(std::size_t hash, const Kind& operation, const std::vector<ValueId>& inputs,
                                    const SortedSet& dims, Precision precision) const {
  if (!share_) return none;
  const auto [first, last] = known_.equal_range(hash);
  for (auto entry = first; entry != last; ++entry) {
    const Step& step = schedule_.steps[entry->second];
    const auto* other = step.as<Kind>();
    if (other != nullptr && step.inputs == inputs && other->product == operation.product &&
        other->power == operation.power && carried_[step.output] == dims &&
        schedule_.values[step.output].precision == precision) {
      return step.output;
    }
  }
  return none;
}

ValueId ScheduleBuilder::contract(Contract request) {
  base::check_wanted();
  if (!fuse_products_ && !request.product.empty()) {
    Contract sum = request;
    sum.product.clear();
    sum.wide = true;
    request.inputs = {contract(std::move(sum))};
  }
  auto [inputs, step] = analyse(request);
  const bool multiplies = !request.product.empty();
  bool wide = request.wide || multiplies || (wide_sums_ && !step.sum.empty());
  SortedSet all;
  for (const ValueId v : inputs) {
    wide = wide || schedule_.values[v].precision == Precision::wide;
    all = unite(all, carried_[v]);
  }
  if (inputs.size() == 1 && step.sum.empty() && !multiplies &&
      (!wide || schedule_.values[inputs[0]].precision == Precision::wide)) {
    return inputs[0];
  }
  const SortedSet dims = subtract(subtract(all, step.sum), step.product);
  const Precision precision = wide ? Precision::wide : Precision::element;
  const std::size_t hash = hash_of(step, inputs);
  if (const ValueId known = find_known(hash, step, inputs, dims, precision); known != none) return known;
  const ValueId output =
      add_value({.kind = Value::Kind::intermediate, .dims = axis_order(inputs, dims), .precision = precision});
  if (share_) known_.emplace(hash, schedule_.steps.size());
  add_step(std::move(step), std::move(inputs), output);
  return output;
}

ValueId ScheduleBuilder::leave_one_out(ValueId input, const SortedSet& plates, const SortedSet& leaf) {
  PLATED_ASSERT(schedule_.values[input].precision == Precision::wide);
  LeaveOneOut step{.product = intersect(plates, carried_[input]),
                   .power = {.plates = subtract(plates, carried_[input])},
                   .leaf = leaf};
  const std::size_t hash = hash_of(step, {input});
  if (const ValueId known = find_known(hash, step, {input}, carried_[input], Precision::wide); known != none) {
    return known;
  }
  const ValueId output = add_value(
      {.kind = Value::Kind::intermediate, .dims = schedule_.values[input].dims, .precision = Precision::wide});
  if (share_) known_.emplace(hash, schedule_.steps.size());
  add_step(std::move(step), {input}, output);
  return output;
}

ValueId ScheduleBuilder::weights(DimId plate) {
  const auto [known, is_new] = weights_value_.try_emplace(plate, none);
  if (!is_new) return known->second;
  const auto weighted = schedule_.weights.find(plate);
  const auto place = static_cast<std::size_t>(std::distance(schedule_.weights.begin(), weighted));
  Value value{.kind = Value::Kind::operand,
              .index = schedule_.graph.factors().size() + place,
              .dims = weighted->second,
              .precision = Precision::wide};
  std::erase_if(value.dims, [&](DimId d) { return contains(schedule_.problem.absent, d); });
  return known->second = add_value(std::move(value));
}

ScheduleBuilder::Exponent ScheduleBuilder::exponent(ValueId input, const SortedSet& plates) {
  Exponent result;
  SortedSet all;
  for (const DimId plate : plates) {
    if (!schedule_.weights.contains(plate)) continue;
    result.factors.push_back(weights(plate));
    all = unite(all, carried_[result.factors.back()]);
  }
  result.counted = subtract(intersect(all, plates), carried_[input]);
  if (result.counted.empty()) return result;
  ValueId& known = known_exponents_.try_emplace({result.factors, result.counted}, none).first->second;
  if (known == none) {
    ValueId product = result.factors[0];
    if (result.factors.size() > 1) {
      product = add_value({.kind = Value::Kind::intermediate, .dims = all, .precision = Precision::wide});
      add_step(planner::Contract{.semiring = Semiring::real}, result.factors, product);
    }
    // Sums of numbers are the products of max-plus, and no state of a variable is summed over here.
    known = add_value(
        {.kind = Value::Kind::intermediate, .dims = subtract(all, result.counted), .precision = Precision::wide});
    add_step(planner::Contract{.product = result.counted, .semiring = Semiring::max_plus}, {product}, known);
  }
  result.factors = {known};
  return result;
}

ValueId ScheduleBuilder::raise(ValueId input, const Exponent& exponent, int less, const SortedSet& leaf) {
  PLATED_ASSERT(schedule_.values[input].precision == Precision::wide);
  std::vector<ValueId> inputs = base::joined({input}, exponent.factors);
  std::vector<DimId> dims = schedule_.values[input].dims;
  for (const ValueId v : exponent.factors) {
    for (const DimId d : subtract(carried_[v], base::sorted(dims))) dims.push_back(d);
  }
  const ValueId output =
      add_value({.kind = Value::Kind::intermediate, .dims = std::move(dims), .precision = Precision::wide});
  add_step(Raise{.less = less, .leaf = leaf}, std::move(inputs), output);
  return output;
}

ValueId ScheduleBuilder::operand(std::size_t index, std::vector<DimId> dims, Precision precision) {
  return add_value({.kind = Value::Kind::operand, .index = index, .dims = std::move(dims), .precision = precision});
}

ValueId ScheduleBuilder::intermediate(std::vector<DimId> dims, Precision precision) {
  return add_value({.kind = Value::Kind::intermediate, .dims = std::move(dims), .precision = precision});
}

ValueId ScheduleBuilder::scan(Scan scan, std::vector<ValueId> inputs, std::vector<DimId> dims) {
  const ValueId output = intermediate(std::move(dims), Precision::wide);
  add_step(std::move(scan), std::move(inputs), output);
  return output;
}

void ScheduleBuilder::deliver(std::size_t output, const Contract& request) {
  PLATED_ASSERT(request.product.empty());
  auto [inputs, step] = analyse(request);
  Value value{.kind = Value::Kind::output, .index = output, .dims = {}};
  for (const DimId d : schedule_.outputs[output]) {
    if (!contains(schedule_.problem.absent, d)) value.dims.push_back(d);
  }
  add_step(std::move(step), std::move(inputs), add_value(std::move(value)));
}

}  // namespace plated::planner
