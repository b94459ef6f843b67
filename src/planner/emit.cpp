// Emits components in the order of Algorithm 1, then the outputs in groups that share their network.
#include "planner/emit.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "planner/contract_network.hpp"
#include "planner/emit_component.hpp"
#include "planner/point_ends.hpp"

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
  bool apart = false;  // each is a goal of its own: in slices of a chain, or without some factors
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
        components_(schedule, builder_, elimination, wants_, options) {}

  void run() {
    const std::vector<Group> groups = group_outputs();
    for (const Group& group : groups) {
      if (group.apart) {
        for (const std::size_t o : group.outputs) wants_.add(goal(o));
      } else {
        wants_.add(group.opened, {});
      }
    }
    wants_.spread();
    for (std::uint32_t c = 0; c < elimination_.components.size(); ++c) components_.emit(c);
    builder_.enter({});
    for (const Group& group : groups) {
      if (group.apart) {
        for (const std::size_t o : group.outputs) deliver(o, inputs_of(goal(o)));
      } else {
        emit_group(group);
      }
    }
  }

 private:
  [[nodiscard]] Goal goal(std::size_t output) const {
    return {problem_.outputs[output].variables, problem_.outputs[output].without};
  }

  std::vector<Group> group_outputs() const {
    std::map<Opened, Group> groups;
    for (std::size_t o = 0; o < problem_.outputs.size(); ++o) {
      const ProblemOutput& output = problem_.outputs[o];
      if (output.empty) continue;
      Opened opened = goals_.opened_by(goal(o));
      const bool apart = goals_.scanned(goal(o)) || !output.without.empty();
      // Outputs without plates share one network: opening a component outside all plates costs the others nothing.
      Group& group = groups[output.plates.empty() && !apart ? Opened{} : opened];
      group.apart = group.apart || apart;
      group.opened.merge(opened);
      group.outputs.push_back(o);
    }
    std::vector<Group> list;
    for (auto& [key, group] : groups) list.push_back(std::move(group));
    return list;
  }

  /// The nodes of opened components: those that others of them lead to are products of other slices. With `changed`,
  /// those that change from slice to slice do.
  std::vector<ValueId> opened_values(const Opened& opened, const SortedSet& without, bool changed = false) {
    std::vector<ValueId> values;
    for (const std::uint32_t c : opened) {
      const ComponentRecord& component = elimination_.components[c];
      const auto changes = [&](std::uint32_t n) {
        return problem_.left_out_of && elimination_.nodes[n].changes && contains(without, n);
      };
      if (std::any_of(component.nodes.begin(), component.nodes.end(), changes)) {
        // Other components that are opened lie around the slices.
        for (const ValueId v : components_.values_without(component)) values.push_back(v);
        continue;
      }
      for (const std::uint32_t n : component.nodes) {
        const std::uint32_t producer = elimination_.nodes[n].producer;
        const bool leads = producer != none && opened.contains(producer);
        if (contains(without, n)) continue;
        values.push_back(leads ? components_.leave_one_out(producer, changed) : node_value(n, changed));
      }
    }
    return values;
  }

  ValueId node_value(std::uint32_t node, bool changed) {
    return changed ? components_.rest_of(node) : components_.value(node);
  }

  void add_scalars(const Opened& opened, const SortedSet& without, bool changed, std::vector<ValueId>& values) {
    for (const std::uint32_t n : elimination_.scalars) {
      const std::uint32_t producer = elimination_.nodes[n].producer;
      if (contains(without, n)) {
        if (const ValueId v = components_.rest_of(n); v != none) values.push_back(v);
      } else if (!opened.contains(producer)) {
        values.push_back(node_value(n, changed));
      } else if (!elimination_.components[producer].leaf.empty()) {
        values.push_back(components_.leave_one_out(producer, changed));
      }
    }
  }

  /// The inputs of the last contraction towards a goal.
  std::vector<ValueId> inputs_of(const Goal& goal, bool changed = false) {
    SinkNetwork network{.tensors = {}, .sinks = {goal.variables}};
    if (const std::optional<std::uint32_t> chain = goals_.scanned(goal)) {
      const SplitGoal parts = goals_.split(goal, *chain);
      network.leaf = elimination_.components[*chain].leaf;
      network.tensors = opened_values(parts.inside, goal.without);
      const ScanValues& there = components_.scan(*chain);
      const Returned& back = returned(*chain, parts);
      for (const ValueId v : {there.messages, there.shifts, back.values.messages, back.values.shifts}) {
        network.tensors.push_back(v);
      }
      network.tensors.insert(network.tensors.end(), back.around.begin(), back.around.end());
    } else {
      const Opened opened = goals_.opened_by(goal);
      network.tensors = opened_values(opened, goal.without, changed);
      add_scalars(opened, goal.without, changed, network.tensors);
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
    const bool filtered = problem_.filtered == component.scan->chain;
    if (filtered) {
      request.nodes = components_.later_slices(component);
    } else {
      for (const std::uint32_t n : component.nodes) request.nodes.push_back(components_.value(n));
    }
    const std::vector<ValueId> inputs =
        inputs_of(parts.around, filtered && elimination_.nodes[component.result].changes);
    const auto differs = [&](ValueId v) { return contains(builder_.carried(v), component.scan->chain); };
    if (std::any_of(inputs.begin(), inputs.end(), differs)) {
      result.around = inputs;
      request.carried = component.scan->results(component.remaining);
    } else if (!inputs.empty()) {
      request.start = {builder_.contract(
          {.inputs = inputs, .keep = parts.around.variables, .leaf = component.parent, .wide = true})};
    }
    result.values = emit_scan(schedule_, builder_, request, options_);
    return result;
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
    add_scalars(group.opened, {}, false, network.tensors);
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
  ComponentEmitter components_;
  std::map<std::tuple<std::uint32_t, Goal, SortedSet>, Returned> returned_;
};

}  // namespace

void emit(Schedule& schedule, const Elimination& elimination, const EmitOptions& options) {
  Emitter(schedule, elimination, options).run();
}

}  // namespace plated::planner
