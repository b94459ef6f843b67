// Emits components in the order of Algorithm 1, then the outputs in groups that share their network.
#include "planner/emit.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "planner/contract_network.hpp"
#include "planner/emit_scan.hpp"
#include "planner/point_ends.hpp"
#include "planner/wants.hpp"

namespace plated::planner {
namespace {

using base::contains;
using base::intersect;
using base::subtract;
using base::unite;

/// Outputs that are contracted in one network: they open the same components.
struct Group {
  std::set<std::uint32_t> opened;  // components
  std::vector<std::size_t> outputs;
};

class Emitter {
 public:
  Emitter(Schedule& schedule, const Elimination& elimination, const EmitOptions& options)
      : schedule_(schedule),
        problem_(schedule.problem),
        elimination_(elimination),
        options_(options),
        builder_(schedule, options.without, options.keep_sums),
        goals_(problem_, elimination),
        wants_(elimination, goals_),
        message_(elimination.nodes.size(), none),
        scans_(elimination.components.size()),
        leave_one_out_(elimination.components.size(), none) {}

  void run() {
    const std::vector<Group> groups = group_outputs();
    for (const Group& group : groups) {
      if (goals_.has_scan(group.opened)) {
        for (const std::size_t o : group.outputs) wants_.add({problem_.outputs[o].variables, {}});
      } else {
        wants_.add(group.opened, {});
      }
    }
    wants_.spread();
    for (std::uint32_t c = 0; c < elimination_.components.size(); ++c) emit_component(c);
    builder_.enter({});
    for (const Group& group : groups) {
      if (goals_.has_scan(group.opened)) {
        for (const std::size_t o : group.outputs) deliver(o, inputs_of({problem_.outputs[o].variables, {}}));
      } else {
        emit_group(group);
      }
    }
  }

 private:
  std::vector<Group> group_outputs() const {
    std::map<Opened, Group> groups;
    for (std::size_t o = 0; o < problem_.outputs.size(); ++o) {
      const ProblemOutput& output = problem_.outputs[o];
      if (output.empty) continue;
      Opened opened = goals_.opened_by({output.variables, {}});
      // Outputs without plates share one network: opening a component outside all plates costs the others nothing.
      Group& group = groups[output.plates.empty() && !goals_.has_scan(opened) ? Opened{} : opened];
      group.opened.merge(opened);
      group.outputs.push_back(o);
    }
    std::vector<Group> list;
    for (auto& [key, group] : groups) list.push_back(std::move(group));
    return list;
  }

  ValueId value(std::uint32_t node) {
    const Node& n = elimination_.nodes[node];
    return n.factor != none ? builder_.factor(n.factor) : message_[node];
  }

  [[nodiscard]] bool is_weighted(DimId plate) const { return schedule_.weights.contains(plate); }

  void emit_component(std::uint32_t c) {
    if (!wants_.message(c) && !wants_.leave_one_out(c)) return;
    const ComponentRecord& component = elimination_.components[c];
    SinkNetwork network{.tensors = {}, .sinks = {component.remaining}, .leaf = component.leaf};
    builder_.enter({.leaf = component.leaf,
                    .variables = component.variables,
                    .remaining = component.remaining,
                    .parent = component.parent});
    for (const std::uint32_t n : component.nodes) network.tensors.push_back(value(n));
    schedule_.components.back().factors = network.tensors;
    if (component.scan) return emit_chain(c, network.tensors);
    std::vector<ValueId> inputs = contract_network(builder_, problem_, network, options_.order)[0];
    SortedSet dropped = subtract(component.leaf, component.parent);  // L ∖ L′
    const bool weighted = std::any_of(dropped.begin(), dropped.end(), [&](DimId b) { return is_weighted(b); });
    ValueId one_copy = none;
    ScheduleBuilder::Exponent exponent;
    if (wants_.leave_one_out(c) || weighted) {
      one_copy =
          builder_.contract({.inputs = inputs, .keep = component.remaining, .leaf = component.leaf, .wide = true});
      inputs = {one_copy};
    }
    if (weighted) {
      exponent = builder_.exponent(one_copy, dropped);
      inputs = {builder_.raise(one_copy, exponent, 0, component.leaf)};
      dropped = subtract(dropped, exponent.counted);
    }
    if (wants_.leave_one_out(c)) {
      leave_one_out_[c] = builder_.leave_one_out(inputs[0], dropped, component.leaf);
      if (weighted) {
        // An output is about one of the copies that a slice stands for; the others of its own slice remain.
        const ValueId others = builder_.raise(one_copy, exponent, 1, component.leaf);
        leave_one_out_[c] = builder_.contract(
            {.inputs = {leave_one_out_[c], others}, .keep = component.remaining, .leaf = component.leaf});
      }
    }
    if (wants_.message(c)) {
      message_[component.result] = builder_.contract(
          {.inputs = inputs, .keep = component.remaining, .product = dropped, .leaf = component.leaf});
    }
  }

  void emit_chain(std::uint32_t c, const std::vector<ValueId>& nodes) {
    const ComponentRecord& component = elimination_.components[c];
    ScanRequest request{.component = component,
                        .nodes = nodes,
                        .keeps = wants_.slices(c) || options_.keep_sums || options_.keep_messages};
    for (const std::uint32_t n : component.scan->absorbed) request.start.push_back(value(n));
    scans_[c] = emit_scan(schedule_, builder_, request, options_.order, options_.without);
    message_[component.result] = builder_.contract(
        {.inputs = {scans_[c].last}, .keep = component.remaining, .leaf = component.parent, .wide = true});
  }

  /// The nodes of opened components: those that others of them lead to are products of other slices.
  std::vector<ValueId> opened_values(const Opened& opened, const SortedSet& without) {
    std::vector<ValueId> values;
    for (const std::uint32_t c : opened) {
      for (const std::uint32_t n : elimination_.components[c].nodes) {
        const std::uint32_t producer = elimination_.nodes[n].producer;
        const bool leads = producer != none && opened.contains(producer);
        if (!contains(without, n)) values.push_back(leads ? leave_one_out_[producer] : value(n));
      }
    }
    return values;
  }

  void add_scalars(const Opened& opened, std::vector<ValueId>& values) {
    for (const std::uint32_t n : elimination_.scalars) {
      const std::uint32_t producer = elimination_.nodes[n].producer;
      if (!opened.contains(producer)) {
        values.push_back(value(n));
      } else if (!elimination_.components[producer].leaf.empty()) {
        values.push_back(leave_one_out_[producer]);
      }
    }
  }

  /// The inputs of the last contraction towards a goal.
  std::vector<ValueId> inputs_of(const Goal& goal) {
    SinkNetwork network{.tensors = {}, .sinks = {goal.variables}};
    if (const std::optional<std::uint32_t> chain = goals_.scanned(goal)) {
      const SplitGoal parts = goals_.split(goal, *chain);
      network.leaf = elimination_.components[*chain].leaf;
      network.tensors = opened_values(parts.inside, goal.without);
      const ScanValues& there = scans_[*chain];
      const Returned& back = returned(*chain, parts);
      for (const ValueId v : {there.messages, there.shifts, back.values.messages, back.values.shifts}) {
        network.tensors.push_back(v);
      }
      network.tensors.insert(network.tensors.end(), back.around.begin(), back.around.end());
    } else {
      const Opened opened = goals_.opened_by(goal);
      network.tensors = opened_values(opened, goal.without);
      add_scalars(opened, network.tensors);
    }
    return contract_network(builder_, problem_, network, options_.order)[0];
  }

  struct Returned {
    ScanValues values;
    std::vector<ValueId> around;
  };

  /// The messages that run back from what lies around a chain. Where that differs from slice to slice, they run back
  /// from every state outside, and it is beside them.
  const Returned& returned(std::uint32_t c, const SplitGoal& parts) {
    const ComponentRecord& component = elimination_.components[c];
    const auto [entry, is_new] = returned_.try_emplace({c, parts.around, parts.carried});
    Returned& result = entry->second;
    if (!is_new) return result;
    ScanRequest request{.component = component, .carried = parts.carried, .returns = true, .keeps = true};
    if (problem_.filtered && problem_.outermost_chain(component.leaf) == component.scan->chain) {
      request.nodes = later_slices(component);
    } else {
      for (const std::uint32_t n : component.nodes) request.nodes.push_back(value(n));
    }
    const std::vector<ValueId> inputs = inputs_of(parts.around);
    const auto differs = [&](ValueId v) { return contains(builder_.carried(v), component.scan->chain); };
    if (std::any_of(inputs.begin(), inputs.end(), differs)) {
      result.around = inputs;
      request.carried = component.scan->results(component.remaining);
    } else if (!inputs.empty()) {
      request.start = {builder_.contract(
          {.inputs = inputs, .keep = parts.around.variables, .leaf = component.parent, .wide = true})};
    }
    result.values = emit_scan(schedule_, builder_, request, options_.order, options_.without);
    return result;
  }

  /// Slices that are not known yet have links, and no factors but those on ends of the chain.
  std::vector<ValueId> later_slices(const ComponentRecord& component) {
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

  void deliver(std::size_t output, std::vector<ValueId> inputs) {
    const SortedSet& variables = problem_.outputs[output].variables;
    if (const std::optional<DimId>& end = problem_.outputs[output].in_slice_of) {
      // All other slices are raised to the power of 0.
      const SortedSet& leaf = problem_.outputs[output].plates;
      const ValueId each = builder_.contract({.inputs = inputs, .keep = variables, .leaf = leaf, .wide = true});
      const ValueId one = builder_.raise(each, {.factors = {builder_.weights(*end)}, .counted = {}}, 0, leaf);
      const DimId chain = chain_of(schedule_.graph, *end);
      inputs = {builder_.contract({.inputs = {one}, .keep = variables, .product = {chain}, .leaf = leaf})};
    }
    if (options_.keep_sums && !inputs.empty()) {
      inputs = {builder_.contract({.inputs = inputs, .keep = variables})};
    }
    builder_.deliver(output, {.inputs = inputs, .keep = variables});
  }

  void emit_group(const Group& group) {
    SinkNetwork network;
    network.tensors = opened_values(group.opened, {});
    add_scalars(group.opened, network.tensors);
    std::map<SortedSet, std::vector<std::size_t>> by_variables;
    for (const std::size_t o : group.outputs) by_variables[problem_.outputs[o].variables].push_back(o);
    for (const auto& [variables, outputs] : by_variables) network.sinks.push_back(variables);
    const std::vector<std::vector<ValueId>> last = contract_network(builder_, problem_, network, options_.order);
    std::size_t sink = 0;
    for (const auto& [variables, outputs] : by_variables) {
      std::vector<ValueId> inputs = last[sink++];
      if (outputs.size() > 1 && !inputs.empty()) {
        inputs = {builder_.contract({.inputs = inputs, .keep = variables})};
      }
      for (const std::size_t o : outputs) deliver(o, inputs);
    }
  }

  Schedule& schedule_;
  const Problem& problem_;
  const Elimination& elimination_;
  const EmitOptions& options_;
  ScheduleBuilder builder_;
  Goals goals_;
  Wants wants_;
  std::vector<ValueId> message_;   // [node]: f′
  std::vector<ScanValues> scans_;  // [component]
  std::map<std::tuple<std::uint32_t, Goal, SortedSet>, Returned> returned_;
  std::vector<ValueId> leave_one_out_;  // [component]
};

}  // namespace

void emit(Schedule& schedule, const Elimination& elimination, const EmitOptions& options) {
  Emitter(schedule, elimination, options).run();
}

}  // namespace plated::planner
