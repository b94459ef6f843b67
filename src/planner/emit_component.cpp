// Writes components one by one.
#include "planner/emit_component.hpp"

#include <algorithm>

#include "planner/contract_network.hpp"
#include "planner/left_out.hpp"

namespace plated::planner {

using base::contains;
using base::subtract;
using base::unite;

ComponentEmitter::ComponentEmitter(Schedule& schedule, ScheduleBuilder& builder, const Elimination& elimination,
                                   const Wants& wants, const EmitOptions& options)
    : schedule_(schedule),
      problem_(schedule.problem),
      builder_(builder),
      elimination_(elimination),
      wants_(wants),
      options_(options),
      gone_(left_out_variables(schedule.graph, problem_)),
      message_(elimination.nodes.size(), none),
      scans_(elimination.components.size()),
      leave_one_out_{std::vector<ValueId>(elimination.components.size(), none), {}} {
  if (!problem_.left_out_of && !problem_.filtered) return;  // there may be very many
  rest_.assign(elimination.nodes.size(), none);
  leave_one_out_[1].assign(elimination.components.size(), none);
}

ValueId ComponentEmitter::value(std::uint32_t node) {
  const Node& n = elimination_.nodes[node];
  return n.factor != none ? builder_.factor(n.factor) : message_[node];
}

std::vector<ValueId> ComponentEmitter::values_without(const ComponentRecord& component) {
  std::vector<ValueId> values;
  SortedSet held;
  for (const std::uint32_t n : component.nodes) {
    if (const ValueId v = rest_of(n); v != none) {
      values.push_back(v);
      held = unite(held, builder_.carried(v));
    }
  }
  for (const DimId v : subtract(subtract(component.variables, held), gone_))
    values.push_back(builder_.ones({v}, component.leaf));
  return values;
}

void ComponentEmitter::emit(std::uint32_t c) {
  if (!wants_.message(c) && !wants_.leave_one_out(c)) return;
  const ComponentRecord& component = elimination_.components[c];
  builder_.enter({.leaf = component.leaf,
                  .variables = component.variables,
                  .remaining = component.remaining,
                  .parent = component.parent});
  std::vector<ValueId> tensors;
  for (const std::uint32_t n : component.nodes) tensors.push_back(value(n));
  schedule_.components.back().factors = tensors;
  if (component.scan) {
    ScanRequest request{.component = component,
                        .nodes = tensors,
                        .keeps = wants_.slices(c) || options_.keep_sums || options_.keep_messages};
    for (const std::uint32_t n : component.scan->absorbed) request.start.push_back(value(n));
    scans_[c] = emit_scan(schedule_, builder_, request, options_);
    message_[component.result] = last_message(component, scans_[c]);
  } else {
    message_[component.result] = product(c, std::move(tensors), true);
  }
  if (!elimination_.nodes[component.result].changes || rest_[component.result] != none) return;
  const bool is_filtered = component.scan && problem_.filtered == component.scan->chain;
  rest_[component.result] = is_filtered ? message_so_far(component, scans_[c]) : message_without(c);
}

ValueId ComponentEmitter::message_without(std::uint32_t c) {
  ComponentRecord rest = elimination_.components[c];
  std::vector<ValueId> tensors = values_without(rest);
  if (rest.scan) {
    std::erase_if(rest.scan->links, [&](const ProblemLink& link) { return contains(gone_, link.source); });
    rest.scan->carried = subtract(rest.scan->carried, gone_);
  }
  if (!rest.scan || rest.scan->links.empty()) return tensors.empty() ? none : product(c, std::move(tensors), false);
  ScanRequest request{.component = rest, .nodes = std::move(tensors), .keeps = options_.keep_sums};
  for (const std::uint32_t n : rest.scan->absorbed) {
    if (const ValueId v = rest_of(n); v != none) request.start.push_back(v);
  }
  return last_message(rest, emit_scan(schedule_, builder_, request, options_));
}

std::vector<ValueId> ComponentEmitter::later_slices(const ComponentRecord& component) {
  std::vector<ValueId> nodes;
  for (const std::uint32_t n : component.nodes) {
    const std::uint32_t factor = elimination_.nodes[n].factor;
    if (factor != none && problem_.factors[factor].in_slice_of) nodes.push_back(value(n));
  }
  for (const ProblemLink& link : component.scan->links) {
    for (const DimId v : {link.source, link.target}) nodes.push_back(builder_.ones({v}, component.leaf));
  }
  return nodes;
}

ValueId ComponentEmitter::message_so_far(const ComponentRecord& component, const ScanValues& scan) {
  const ScanRequest request{.component = component,
                            .nodes = later_slices(component),
                            .start = {},
                            .carried = component.scan->results(component.remaining),
                            .returns = true,
                            .keeps = true};
  const ScanValues back = emit_scan(schedule_, builder_, request, options_);
  SinkNetwork network{.tensors = {scan.messages, scan.shifts, back.messages, back.shifts},
                      .sinks = {component.remaining},
                      .leaf = component.leaf};
  for (const std::uint32_t n : component.nodes) network.tensors.push_back(value(n));
  return builder_.contract({.inputs = contract_network(builder_, problem_, network, options_.order)[0],
                            .keep = component.remaining,
                            .leaf = component.leaf,
                            .wide = true});
}

/// The product over plates that a component leaves; where the component `is_whole`, also of all slices but one, as far
/// as these are wanted.
ValueId ComponentEmitter::product(std::uint32_t c, std::vector<ValueId> tensors, bool is_whole) {
  const ComponentRecord& component = elimination_.components[c];
  SortedSet dropped = subtract(component.leaf, component.parent);  // L ∖ L′
  const bool weighted =
      std::any_of(dropped.begin(), dropped.end(), [&](DimId b) { return schedule_.weights.contains(b); });
  if (weighted && leaves_slices_out(dropped)) {
    // Weights of its slices must not be added up.
    tensors.push_back(builder_.ones({*problem_.left_out_of}, component.leaf));
  }
  const SinkNetwork network{.tensors = tensors, .sinks = {component.remaining}, .leaf = component.leaf};
  std::vector<ValueId> inputs = contract_network(builder_, problem_, network, options_.order)[0];
  const bool leaves_out = wants_.leave_one_out(c);
  ValueId& others = leave_one_out_[is_whole ? 0 : 1][c];
  ValueId one_copy = none;
  ScheduleBuilder::Exponent exponent;
  if (leaves_out || weighted) {
    one_copy = builder_.contract({.inputs = inputs, .keep = component.remaining, .leaf = component.leaf, .wide = true});
    inputs = {one_copy};
  }
  if (weighted) {
    exponent = builder_.exponent(one_copy, dropped);
    inputs = {builder_.raise(one_copy, exponent, 0, component.leaf)};
    dropped = subtract(dropped, exponent.counted);
  }
  if (leaves_out) {
    others = builder_.leave_one_out(inputs[0], dropped, component.leaf);
    if (weighted) {
      // An output is about one of the copies that a slice stands for; the others of its own slice remain.
      const ValueId copies = builder_.raise(one_copy, exponent, 1, component.leaf);
      others = builder_.contract({.inputs = {others, copies}, .keep = component.remaining, .leaf = component.leaf});
    }
  }
  if (is_whole && leaves_slices_out(dropped)) {
    const SortedSet plate{*problem_.left_out_of};
    const ValueId slice = builder_.contract({.inputs = inputs,
                                             .keep = component.remaining,
                                             .product = subtract(dropped, plate),
                                             .leaf = component.leaf,
                                             .wide = true});
    rest_[component.result] = builder_.leave_one_out(slice, plate, component.leaf);
  }
  if (is_whole && !wants_.message(c)) return none;
  return builder_.contract({.inputs = inputs, .keep = component.remaining, .product = dropped, .leaf = component.leaf});
}

ValueId ComponentEmitter::last_message(const ComponentRecord& component, const ScanValues& scan) {
  return builder_.contract(
      {.inputs = {scan.last}, .keep = component.remaining, .leaf = component.parent, .wide = true});
}

}  // namespace plated::planner
