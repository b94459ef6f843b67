// [TVE] Algorithm 1: leaves, components, next plate sets.
#include "planner/elimination.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/disjoint_sets.hpp"
#include "base/watch.hpp"
#include "planner/certificate.hpp"
#include "plated/error.hpp"

namespace plated::planner {
namespace {

using base::subtract;
using base::unite;

/// Leaves in the order in which they are taken: most plates first, then by declaration. Those where chains link
/// variables come after others of as many plates: what holds an end of theirs is then known.
struct DeepestFirst {
  const std::set<SortedSet>& linked;

  bool operator()(const SortedSet& a, const SortedSet& b) const {
    if (a.size() != b.size()) return a.size() > b.size();
    const bool a_later = linked.contains(a);
    return a_later != linked.contains(b) ? !a_later : a < b;
  }
};

class Eliminator {
 public:
  Eliminator(const Problem& problem, const FactorGraph& graph)
      : problem_(problem),
        graph_(graph),
        first_holder_(problem.domain.size(), none),
        linked_(linked_leaves(problem)),
        leaves_(DeepestFirst{linked_}) {}

  Elimination run() {
    for (std::uint32_t f = 0; f < problem_.factors.size(); ++f) {
      const ProblemFactor& factor = problem_.factors[f];
      add({.factor = f, .variables = factor.variables, .plates = factor.plates});
    }
    while (!leaves_.empty()) {
      const SortedSet leaf = leaves_.begin()->first;
      const std::vector<std::uint32_t> nodes = std::move(leaves_.begin()->second);
      leaves_.erase(leaves_.begin());
      for (ComponentRecord& component : partition(leaf, nodes)) eliminate_component(std::move(component));
    }
    return std::move(result_);
  }

 private:
  static std::set<SortedSet> linked_leaves(const Problem& problem) {
    std::set<SortedSet> leaves;
    for (const ProblemLink& link : problem.links) leaves.insert(problem.variable_plates[link.source]);
    return leaves;
  }

  void add(Node node) {
    leaves_[node.plates].push_back(static_cast<std::uint32_t>(result_.nodes.size()));
    result_.nodes.push_back(std::move(node));
  }

  /// Partition(V_L, F_L, E_L): factors joined by variables of exactly this leaf.
  std::vector<ComponentRecord> partition(const SortedSet& leaf, const std::vector<std::uint32_t>& nodes) {
    base::DisjointSets sets(nodes.size());
    std::vector<DimId> held;
    for (std::uint32_t k = 0; k < nodes.size(); ++k) {
      for (const DimId v : result_.nodes[nodes[k]].variables) {
        if (problem_.variable_plates[v] != leaf) continue;
        if (first_holder_[v] == none) {
          first_holder_[v] = k;
          held.push_back(v);
        } else {
          sets.join(first_holder_[v], k);
        }
      }
    }
    for (const ProblemLink& link : problem_.links) {
      if (first_holder_[link.source] != none) sets.join(first_holder_[link.source], first_holder_[link.target]);
    }
    // What lies outside depends on all parts of the slices up to one together, those in other plates included.
    const bool is_filtered = std::any_of(problem_.links.begin(), problem_.links.end(), [&](const ProblemLink& link) {
      return problem_.filtered == link.chain && problem_.variable_plates[link.source] == leaf;
    });
    for (std::uint32_t k = 0, last = none; k < nodes.size(); ++k) {
      if (!is_filtered && !(apart_ == leaf && result_.nodes[nodes[k]].changes)) continue;
      if (last != none) sets.join(last, k);
      last = k;
    }
    std::vector<ComponentRecord> components;
    std::vector<std::size_t> component_of(nodes.size());  // [root], which is the first of its component
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const std::size_t root = sets.root(k);
      if (root == k) {
        component_of[k] = components.size();
        components.emplace_back().leaf = leaf;
      }
      components[component_of[root]].nodes.push_back(nodes[k]);
    }
    std::sort(held.begin(), held.end());
    for (const DimId v : held) {
      components[component_of[sets.root(first_holder_[v])]].variables.push_back(v);
      first_holder_[v] = none;
    }
    return components;
  }

  void eliminate_component(ComponentRecord component) {
    base::check_wanted();
    const auto index = static_cast<std::uint32_t>(result_.components.size());
    SortedSet held;
    for (const std::uint32_t n : component.nodes) {
      result_.nodes[n].consumer = index;
      held.insert(held.end(), result_.nodes[n].variables.begin(), result_.nodes[n].variables.end());
    }
    component.remaining = subtract(base::sorted(std::move(held)), component.variables);  // V_f
    const auto links = [&](const ProblemLink& link) { return base::contains(component.variables, link.source); };
    if (std::any_of(problem_.links.begin(), problem_.links.end(), links)) {
      return leave_chain(std::move(component), index);
    }
    for (const DimId v : component.remaining)
      component.parent = unite(component.parent, problem_.variable_plates[v]);  // L′
    component.parent = unite(component.parent, plates_to_stop_in(component.leaf));
    const bool is_changed = stays_apart(component);
    // Progress: a message must leave its leaf, or elimination would loop forever. It fails to leave exactly when
    // variables of different plates are entangled.
    if (!component.remaining.empty() && component.parent == component.leaf) {
      throw intractable(problem_, graph_, component.remaining);
    }
    component.result = static_cast<std::uint32_t>(result_.nodes.size());
    Node message{
        .producer = index, .changes = is_changed, .variables = component.remaining, .plates = component.parent};
    if (component.remaining.empty() && component.parent.empty()) {
      result_.scalars.push_back(component.result);
      result_.nodes.push_back(std::move(message));
    } else {
      add(std::move(message));
    }
    result_.components.push_back(std::move(component));
  }

  /// A component of a chain's slices becomes one factor without the chain, over the variables outside and the ends.
  void leave_chain(ComponentRecord component, std::uint32_t index) {
    ScanRecord& scan = component.scan.emplace();
    for (const ProblemLink& link : problem_.links) {
      if (!base::contains(component.variables, link.source)) continue;
      if (!scan.links.empty() && link.chain != scan.links[0].chain) {
        throw entangled_chains(problem_, graph_, scan.links[0], link);
      }
      scan.links.push_back(link);
    }
    scan.chain = scan.links[0].chain;
    for (const DimId v : component.remaining) {
      if (base::contains(problem_.variable_plates[v], scan.chain)) {
        throw entangled_slices(problem_, graph_, scan.links[0], v);
      }
    }
    component.parent = subtract(component.leaf, {scan.chain});
    choose_direction(component);
    for (const std::uint32_t n : scan.absorbed) {
      result_.nodes[n].consumer = index;
      std::erase(leaves_[component.parent], n);
    }
    SortedSet ends = scan.carried;
    for (const ProblemLink& link : scan.links) {
      if (const auto& end = scan.result(link); end && is_held(*end)) ends.push_back(*end);
    }
    component.remaining = unite(component.remaining, base::sorted(std::move(ends)));
    component.result = static_cast<std::uint32_t>(result_.nodes.size());
    add({.producer = index,
         .changes = is_apart(component) || changes(component.nodes) || changes(component.scan->absorbed),
         .variables = component.remaining,
         .plates = component.parent});
    result_.components.push_back(std::move(component));
  }

  /// Plates of a chain's linked variables inside of which a leaf lies, if its messages must not pass by the chain's:
  /// where outputs depend on no later slices of that chain, or leave factors out of its slices.
  [[nodiscard]] SortedSet plates_to_stop_in(const SortedSet& leaf) const {
    SortedSet plates;
    for (const ProblemLink& link : problem_.links) {
      const SortedSet& linked = problem_.variable_plates[link.source];
      if (linked == leaf || !base::is_subset(linked, leaf)) continue;
      if (link.chain == problem_.left_out_of || link.chain == problem_.filtered) plates = unite(plates, linked);
    }
    return plates;
  }

  /// Whether an output about slices of a component's chain depends on another part of the chain, in other plates, as
  /// far as the same slice: parts in different plates cannot share messages. What leaves this one then changes from
  /// slice to slice.
  [[nodiscard]] bool is_apart(const ComponentRecord& component) {
    const DimId chain = component.scan->chain;
    if (problem_.filtered != chain || component.remaining.empty()) return false;
    SortedSet common = component.parent;
    bool has_others = false;
    for (const ProblemLink& link : problem_.links) {
      if (link.chain != chain) continue;
      common = base::intersect(common, problem_.variable_plates[link.source]);
      has_others = has_others || problem_.variable_plates[link.source] != component.leaf;
    }
    if (!has_others) return false;
    apart_ = std::move(common);
    return true;
  }

  [[nodiscard]] bool changes(const std::vector<std::uint32_t>& nodes) const {
    return std::any_of(nodes.begin(), nodes.end(), [&](std::uint32_t n) { return result_.nodes[n].changes; });
  }

  /// What changes from slice to slice does so as far as the plates that all parts of the chain share: other sequences
  /// are known to their ends. These plates are left last.
  [[nodiscard]] bool stays_apart(ComponentRecord& component) const {
    if (!changes(component.nodes)) return false;
    const SortedSet parent = unite(component.parent, *apart_);
    if (parent == component.leaf) return false;
    component.parent = parent;
    return true;
  }

  /// Messages begin at the first slice, with the product of what holds it, if that is over what messages carry anyway.
  /// Else they begin so at the last one; or they carry the states at the first one along.
  void choose_direction(ComponentRecord& component) const {
    ScanRecord& scan = *component.scan;
    SortedSet firsts;
    SortedSet lasts;
    for (const ProblemLink& link : scan.links) {
      if (link.first && is_held(*link.first)) firsts.push_back(*link.first);
      if (link.last && is_held(*link.last)) lasts.push_back(*link.last);
    }
    firsts = base::sorted(std::move(firsts));
    const bool filtered = problem_.filtered == scan.chain;
    scan.forward = true;
    if (auto nodes = absorbable(component, firsts)) {
      scan.absorbed = std::move(*nodes);
    } else if (auto others = absorbable(component, base::sorted(std::move(lasts))); others && !filtered) {
      scan.forward = false;
      scan.absorbed = std::move(*others);
    } else {
      scan.carried = firsts;
    }
  }

  /// Whether an output asks for an end, or a node that is not eliminated yet has it.
  [[nodiscard]] bool is_held(DimId end) const {
    const auto holds = [&](const auto& item) { return base::contains(item.variables, end); };
    return std::any_of(problem_.outputs.begin(), problem_.outputs.end(), holds) ||
           std::any_of(result_.nodes.begin(), result_.nodes.end(),
                       [&](const Node& node) { return node.consumer == none && holds(node); });
  }

  /// All nodes that hold one of these ends, if they hold nothing but them and what messages carry.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> absorbable(const ComponentRecord& component,
                                                                     const SortedSet& ends) const {
    for (const ProblemOutput& output : problem_.outputs) {
      if (!base::intersect(output.variables, ends).empty()) return std::nullopt;
    }
    const SortedSet carried = unite(component.remaining, ends);
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t n = 0; n < result_.nodes.size(); ++n) {
      const Node& node = result_.nodes[n];
      if (node.consumer != none || base::intersect(node.variables, ends).empty()) continue;
      if (node.plates != component.parent || !base::is_subset(node.variables, carried)) return std::nullopt;
      if (node.changes && problem_.filtered == component.scan->chain) return std::nullopt;
      nodes.push_back(n);
    }
    return nodes;
  }

  const Problem& problem_;
  const FactorGraph& graph_;
  Elimination result_;
  /// The plates that all parts of the filtered chain have, where parts in different plates depend on each other.
  std::optional<SortedSet> apart_;
  std::vector<std::uint32_t> first_holder_;  // [variable]: in the leaf that is being partitioned
  std::set<SortedSet> linked_;               // leaves where chains link variables
  std::map<SortedSet, std::vector<std::uint32_t>, DeepestFirst> leaves_;
};

}  // namespace

Elimination eliminate(const Problem& problem, const FactorGraph& graph) { return Eliminator(problem, graph).run(); }

}  // namespace plated::planner
