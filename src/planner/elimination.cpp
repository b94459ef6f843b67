// [TVE] Algorithm 1: leaves, components, next plate sets.
#include "planner/elimination.hpp"

#include <algorithm>
#include <map>

#include "base/disjoint_sets.hpp"
#include "base/watch.hpp"
#include "planner/certificate.hpp"
#include "plated/error.hpp"

namespace plated::planner {
namespace {

using base::subtract;
using base::unite;

/// Leaves in the order in which they are taken: most plates first, then by declaration.
struct DeepestFirst {
  bool operator()(const SortedSet& a, const SortedSet& b) const {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  }
};

class Eliminator {
 public:
  Eliminator(const Problem& problem, const FactorGraph& graph)
      : problem_(problem), graph_(graph), first_holder_(problem.domain.size(), none) {}

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
    for (const DimId v : component.remaining)
      component.parent = unite(component.parent, problem_.variable_plates[v]);  // L′
    // Progress: a message must leave its leaf, or elimination would loop forever. It fails to leave exactly when
    // variables of different plates are entangled.
    if (!component.remaining.empty() && component.parent == component.leaf) {
      throw intractable(problem_, graph_, component.remaining);
    }
    component.result = static_cast<std::uint32_t>(result_.nodes.size());
    Node message{.producer = index, .variables = component.remaining, .plates = component.parent};
    if (component.remaining.empty()) {
      result_.scalars.push_back(component.result);
      result_.nodes.push_back(std::move(message));
    } else {
      add(std::move(message));
    }
    result_.components.push_back(std::move(component));
  }

  const Problem& problem_;
  const FactorGraph& graph_;
  Elimination result_;
  std::vector<std::uint32_t> first_holder_;  // [variable]: in the leaf that is being partitioned
  std::map<SortedSet, std::vector<std::uint32_t>, DeepestFirst> leaves_;
};

}  // namespace

Elimination eliminate(const Problem& problem, const FactorGraph& graph) { return Eliminator(problem, graph).run(); }

}  // namespace plated::planner
