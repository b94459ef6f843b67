// Emits components in the order of Algorithm 1, then the outputs in groups that share their network.
#include "planner/emit.hpp"

#include <algorithm>
#include <map>

#include "planner/contract_network.hpp"

namespace plated::planner {
namespace {

using base::subtract;

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
        home_(problem_.domain.size(), none),
        message_(elimination.nodes.size(), none),
        leave_one_out_(elimination.components.size(), none),
        wants_message_(elimination.components.size(), false),
        wants_leave_one_out_(elimination.components.size(), false) {
    for (std::uint32_t c = 0; c < elimination_.components.size(); ++c) {
      for (const DimId v : elimination_.components[c].variables) home_[v] = c;
    }
  }

  void run() {
    const std::vector<Group> groups = group_outputs();
    for (const Group& group : groups) mark_wanted(group);
    // A component's messages come from components before it, so wants travel backwards.
    for (std::size_t c = elimination_.components.size(); c-- > 0;) {
      if (!wants_message_[c] && !wants_leave_one_out_[c]) continue;
      for (const std::uint32_t n : elimination_.components[c].nodes) want(n);
    }
    for (std::uint32_t c = 0; c < elimination_.components.size(); ++c) emit_component(c);
    builder_.enter({});
    for (const Group& group : groups) emit_group(group);
  }

 private:
  std::vector<Group> group_outputs() const {
    std::map<std::set<std::uint32_t>, Group> groups;
    for (std::size_t o = 0; o < problem_.outputs.size(); ++o) {
      const ProblemOutput& output = problem_.outputs[o];
      if (output.empty) continue;
      std::set<std::uint32_t> opened;
      for (const DimId v : output.variables) {
        for (std::uint32_t c = home_[v]; c != none && opened.insert(c).second;) {
          c = elimination_.nodes[elimination_.components[c].result].consumer;
        }
      }
      // Outputs without plates share one network: opening a component outside all plates costs the others nothing.
      Group& group = groups[output.plates.empty() ? std::set<std::uint32_t>{} : opened];
      group.opened.merge(opened);
      group.outputs.push_back(o);
    }
    std::vector<Group> list;
    for (auto& [key, group] : groups) list.push_back(std::move(group));
    return list;
  }

  void want(std::uint32_t node) {
    const std::uint32_t producer = elimination_.nodes[node].producer;
    if (producer != none) wants_message_[producer] = true;
  }

  void mark_wanted(const Group& group) {
    for (const std::uint32_t c : group.opened) {
      if (!elimination_.components[c].leaf.empty()) wants_leave_one_out_[c] = true;
      for (const std::uint32_t n : elimination_.components[c].nodes) {
        const std::uint32_t producer = elimination_.nodes[n].producer;
        if (producer == none || !group.opened.contains(producer)) want(n);
      }
    }
    for (const std::uint32_t n : elimination_.scalars) {
      if (!group.opened.contains(elimination_.nodes[n].producer)) want(n);
    }
  }

  ValueId value(std::uint32_t node) {
    const Node& n = elimination_.nodes[node];
    return n.factor != none ? builder_.factor(n.factor) : message_[node];
  }

  [[nodiscard]] bool is_weighted(DimId plate) const { return schedule_.weights.contains(plate); }

  void emit_component(std::uint32_t c) {
    if (!wants_message_[c] && !wants_leave_one_out_[c]) return;
    const ComponentRecord& component = elimination_.components[c];
    SinkNetwork network{.tensors = {}, .sinks = {component.remaining}, .leaf = component.leaf};
    builder_.enter({.leaf = component.leaf,
                    .variables = component.variables,
                    .remaining = component.remaining,
                    .parent = component.parent});
    for (const std::uint32_t n : component.nodes) network.tensors.push_back(value(n));
    schedule_.components.back().factors = network.tensors;
    std::vector<ValueId> inputs = contract_network(builder_, problem_, network, options_.order)[0];
    SortedSet dropped = subtract(component.leaf, component.parent);  // L ∖ L′
    const bool weighted = std::any_of(dropped.begin(), dropped.end(), [&](DimId b) { return is_weighted(b); });
    ValueId one_copy = none;
    ScheduleBuilder::Exponent exponent;
    if (wants_leave_one_out_[c] || weighted) {
      one_copy = builder_.contract(
          {.inputs = inputs, .keep = component.remaining, .product = {}, .leaf = component.leaf, .wide = true});
      inputs = {one_copy};
    }
    if (weighted) {
      exponent = builder_.exponent(one_copy, dropped);
      inputs = {builder_.raise(one_copy, exponent, 0, component.leaf)};
      dropped = subtract(dropped, exponent.counted);
    }
    if (wants_leave_one_out_[c]) {
      leave_one_out_[c] = builder_.leave_one_out(inputs[0], dropped, component.leaf);
      if (weighted) {
        // An output is about one of the copies that a slice stands for; the others of its own slice remain.
        const ValueId others = builder_.raise(one_copy, exponent, 1, component.leaf);
        leave_one_out_[c] = builder_.contract({.inputs = {leave_one_out_[c], others},
                                               .keep = component.remaining,
                                               .product = {},
                                               .leaf = component.leaf});
      }
    }
    if (wants_message_[c]) {
      message_[component.result] = builder_.contract(
          {.inputs = inputs, .keep = component.remaining, .product = dropped, .leaf = component.leaf});
    }
  }

  void emit_group(const Group& group) {
    SinkNetwork network;
    for (const std::uint32_t c : group.opened) {
      for (const std::uint32_t n : elimination_.components[c].nodes) {
        const std::uint32_t producer = elimination_.nodes[n].producer;
        const bool opened = producer != none && group.opened.contains(producer);
        network.tensors.push_back(opened ? leave_one_out_[producer] : value(n));
      }
    }
    for (const std::uint32_t n : elimination_.scalars) {
      const std::uint32_t producer = elimination_.nodes[n].producer;
      if (!group.opened.contains(producer)) {
        network.tensors.push_back(value(n));
      } else if (!elimination_.components[producer].leaf.empty()) {
        network.tensors.push_back(leave_one_out_[producer]);
      }
    }
    std::map<SortedSet, std::vector<std::size_t>> by_variables;
    for (const std::size_t o : group.outputs) by_variables[problem_.outputs[o].variables].push_back(o);
    for (const auto& [variables, outputs] : by_variables) network.sinks.push_back(variables);
    const std::vector<std::vector<ValueId>> last = contract_network(builder_, problem_, network, options_.order);
    std::size_t sink = 0;
    for (const auto& [variables, outputs] : by_variables) {
      std::vector<ValueId> inputs = last[sink++];
      if ((outputs.size() > 1 || options_.keep_sums) && !inputs.empty()) {
        inputs = {builder_.contract({.inputs = inputs, .keep = variables, .product = {}, .leaf = {}})};
      }
      for (const std::size_t o : outputs) {
        builder_.deliver(o, {.inputs = inputs, .keep = variables, .product = {}, .leaf = {}});
      }
    }
  }

  Schedule& schedule_;
  const Problem& problem_;
  const Elimination& elimination_;
  const EmitOptions& options_;
  ScheduleBuilder builder_;
  std::vector<std::uint32_t> home_;     // [dim]: the component that sums a variable
  std::vector<ValueId> message_;        // [node]: f′
  std::vector<ValueId> leave_one_out_;  // [component]
  std::vector<bool> wants_message_;
  std::vector<bool> wants_leave_one_out_;
};

}  // namespace

void emit(Schedule& schedule, const Elimination& elimination, const EmitOptions& options) {
  Emitter(schedule, elimination, options).run();
}

}  // namespace plated::planner
