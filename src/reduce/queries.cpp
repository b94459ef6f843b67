// Finds ancestral parts of directed models, and merges them while a common sweep is cheaper than two.
//
// The graph without all barren variables is the core: the ancestors of the evidence. A sink is a barren variable that
// is no parent of another; its part is its own distribution, those of its barren ancestors, and what of the core they
// touch.
#include "reduce/queries.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/disjoint_sets.hpp"
#include "base/sorted_set.hpp"
#include "graph/answer_axes.hpp"
#include "graph/barren.hpp"
#include "graph/derived.hpp"
#include "planner/contraction_order.hpp"

namespace plated::reduce {
namespace {

using base::SortedSet;

// The cost of one more factor in a sweep, in flops.
constexpr double flops_per_factor = 3000;
// The cost of pricing a part alone and together with another, in flops per factor.
constexpr double flops_to_price = 4000;

class Grouper {
 public:
  Grouper(const FactorGraph& graph, std::span<const DimId> observed, double cheap_flops)
      : graph_(graph),
        cheap_flops_(cheap_flops),
        holders_(graph.dims().size()),
        own_(graph.dims().size()),
        stays_(graph.dims().size(), false) {
    for (const DimId v : observed) stays_[v] = true;
    for (std::size_t f = 0; f < graph.factors().size(); ++f) {
      variables_.push_back(graph.factor_variables(f));
      for (const DimId v : variables_.back()) holders_[v].push_back(static_cast<std::uint32_t>(f));
      dims_.push_back(base::unite(variables_.back(), graph.factor_plates(f)));
      std::erase_if(dims_.back(), [&](DimId d) { return graph.dims()[d].size <= 1; });
    }
  }

  /// A quick estimate for a sweep's forward half: min-fill, with slices as if they were states.
  [[nodiscard]] double flops(const std::vector<std::size_t>& factors) const {
    planner::Network network;
    std::vector<std::optional<std::uint32_t>> local(graph_.dims().size());
    for (const std::size_t f : factors) {
      std::vector<std::uint32_t> dims;
      for (const DimId v : dims_[f]) {
        if (!local[v]) {
          local[v] = static_cast<std::uint32_t>(network.log2_size.size());
          network.log2_size.push_back(std::log2(static_cast<double>(graph_.dims()[v].size)));
        }
        dims.push_back(*local[v]);
      }
      if (!dims.empty()) network.tensors.push_back(base::sorted(std::move(dims)));
    }
    if (network.tensors.size() < 2) return network.tensors.empty() ? 0.0 : std::exp2(log2_elements(network));
    const planner::Tree tree = planner::contraction_order(network, {.strategy = planner::Strategy::min_fill});
    return std::exp2(planner::log2_flops(network, tree));
  }

  Query run_for(std::vector<DimId> asked) {
    for (const DimId v : asked) stays_[v] = true;
    gone_.assign(graph_.factors().size(), false);
    if (graph_.chains().empty()) find_barren();
    Query query{{}, std::move(asked), 0};
    for (std::size_t f = 0; f < gone_.size(); ++f) {
      if (!gone_[f]) query.factors.push_back(f);
    }
    return query;
  }

  std::vector<Query> run() {
    SortedSet all(graph_.factors().size());
    for (std::uint32_t f = 0; f < all.size(); ++f) all[f] = f;
    const bool undirected = std::none_of(graph_.factors().begin(), graph_.factors().end(),
                                         [](const Factor& factor) { return factor.distribution_of.has_value(); });
    if (undirected || !graph_.chains().empty()) return answering({{{all.begin(), all.end()}, {}, 0}});
    std::vector<Query> whole{query_of(all)};
    if (price(whole[0]) <= cheap_flops_) return answering(std::move(whole));
    find_barren();
    find_core();
    std::vector<SortedSet> parts;
    double search = 0;
    for (const DimId sink : sinks()) {
      parts.push_back(part_of(sink));
      search += flops_to_price * static_cast<double>(parts.back().size());
    }
    if (cheap_flops_ > 0 && price(whole[0]) <= search) return answering(std::move(whole));
    for (const SortedSet& part : parts) add(part);
    cover_core();
    double together = 0;
    for (const Query& query : groups_) together += price(query);
    return answering(together < price(whole[0]) ? std::move(groups_) : std::move(whole));
  }

 private:
  /// Of a graph without chains.
  void find_barren() {
    std::vector<SortedSet> plates;
    for (std::size_t f = 0; f < graph_.factors().size(); ++f) plates.push_back(graph_.factor_plates(f));
    std::vector<graph::FactorSets> factors;
    for (std::size_t f = 0; f < plates.size(); ++f) {
      factors.push_back({variables_[f], plates[f], graph_.factors()[f].distribution_of});
    }
    gone_.assign(factors.size(), false);
    // An empty sum is zero, whatever was declared.
    const auto kept = [&](DimId v) { return stays_[v] || graph_.dims()[v].size == 0; };
    for (const graph::Barren& barren : graph::barren_variables(factors, graph_.variable_plates(), kept)) {
      own_[barren.variable] = static_cast<std::uint32_t>(barren.factor);
      gone_[barren.factor] = true;
    }
  }

  /// The components of what is left.
  void find_core() {
    base::DisjointSets sets(graph_.factors().size());
    for (DimId v = 0; v < holders_.size(); ++v) {
      std::optional<std::uint32_t> first;
      for (const std::uint32_t f : holders_[v]) {
        if (gone_[f]) continue;
        if (first) sets.join(*first, f);
        first = first.value_or(f);
      }
    }
    core_of_.assign(graph_.factors().size(), 0);
    std::vector<std::optional<std::size_t>> index(graph_.factors().size());
    for (std::uint32_t f = 0; f < graph_.factors().size(); ++f) {
      if (gone_[f]) continue;
      auto& part = index[sets.root(f)];
      if (!part) {
        part = core_.size();
        core_.emplace_back();
      }
      core_of_[f] = *part;
      core_[*part].push_back(f);
    }
    covered_.assign(core_.size(), false);
  }

  [[nodiscard]] std::vector<DimId> sinks() const {
    std::vector<bool> is_parent(holders_.size(), false);
    for (DimId v = 0; v < own_.size(); ++v) {
      if (!own_[v]) continue;
      for (const DimId u : variables_[*own_[v]]) is_parent[u] = is_parent[u] || u != v;
    }
    std::vector<DimId> result;
    for (DimId v = 0; v < own_.size(); ++v) {
      if (own_[v] && !is_parent[v]) result.push_back(v);
    }
    return result;
  }

  /// A sink's distribution, its ancestors' and the parts of the core that they touch.
  SortedSet part_of(DimId sink) {
    std::vector<bool> taken(graph_.factors().size(), false);
    SortedSet part;
    const auto take = [&](std::uint32_t f) {
      if (taken[f]) return;
      taken[f] = true;
      part.push_back(f);
    };
    take(*own_[sink]);
    for (std::size_t k = 0; k < part.size(); ++k) {
      if (!gone_[part[k]]) continue;
      for (const DimId u : variables_[part[k]]) {
        if (own_[u]) {
          take(*own_[u]);
          continue;
        }
        const auto held = std::find_if(holders_[u].begin(), holders_[u].end(), [&](auto g) { return !gone_[g]; });
        if (held == holders_[u].end()) continue;
        covered_[core_of_[*held]] = true;
        for (const std::uint32_t f : core_[core_of_[*held]]) take(f);
      }
    }
    return base::sorted(std::move(part));
  }

  /// Joins the group it has most in common with, if that costs less than a sweep of its own.
  void add(const SortedSet& part) {
    std::size_t best = groups_.size();
    std::size_t most = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::size_t common = base::intersect(part, groups_of_[g]).size();
      if (common > most) {
        most = common;
        best = g;
      }
    }
    // A part that shares nothing is another component: it costs no more in a common sweep.
    if (best == groups_.size() && !groups_.empty()) best = 0;
    if (most == part.size()) return;
    Query alone = query_of(part);
    if (best < groups_.size()) {
      SortedSet joint = base::unite(part, groups_of_[best]);
      Query together = query_of(joint);
      if (price(together) <= price(groups_[best]) + price(alone)) {
        groups_of_[best] = std::move(joint);
        groups_[best] = std::move(together);
        return;
      }
    }
    groups_of_.push_back(part);
    groups_.push_back(std::move(alone));
  }

  void cover_core() {
    SortedSet rest;
    for (std::size_t c = 0; c < core_.size(); ++c) {
      if (!covered_[c]) rest = base::unite(rest, core_[c]);
    }
    if (!rest.empty()) add(rest);
  }

  /// What a sweep costs with all that surrounds its arithmetic.
  [[nodiscard]] static double price(const Query& query) {
    return query.flops + flops_per_factor * static_cast<double>(query.factors.size());
  }

  [[nodiscard]] static double log2_elements(const planner::Network& network) {
    double sum = 0;
    for (const std::uint32_t d : network.tensors[0]) sum += network.log2_size[d];
    return sum;
  }

  [[nodiscard]] Query query_of(const SortedSet& factors) const {
    Query query{{factors.begin(), factors.end()}, {}, 0};
    query.flops = flops(query.factors);
    return query;
  }

  /// Each variable is answered for by the cheapest query that holds it; one that nothing holds, by the first. A query
  /// without any still tells whether its factors leave anything possible.
  [[nodiscard]] std::vector<Query> answering(std::vector<Query> queries) const {
    std::stable_sort(queries.begin(), queries.end(), [](const Query& a, const Query& b) { return a.flops < b.flops; });
    std::vector<bool> answered(graph_.dims().size(), false);
    for (Query& query : queries) {
      for (const std::size_t f : query.factors) {
        for (const DimId v : variables_[f]) {
          if (!answered[v]) query.variables.push_back(v);
          answered[v] = true;
        }
      }
    }
    for (DimId v = 0; v < answered.size(); ++v) {
      if (!answered[v] && graph_.dims()[v].kind == DimKind::variable) queries.front().variables.push_back(v);
    }
    return queries;
  }

  const FactorGraph& graph_;
  double cheap_flops_;
  std::vector<SortedSet> variables_;               // [factor]
  std::vector<SortedSet> dims_;                    // [factor]: its variables and plates of more than one index
  std::vector<SortedSet> holders_;                 // [variable]
  std::vector<std::optional<std::uint32_t>> own_;  // [variable]: the distribution it falls with, if it is barren
  std::vector<bool> stays_;                        // [variable]: never barren
  std::vector<bool> gone_;                         // [factor]
  std::vector<SortedSet> core_;                    // components of factors
  std::vector<std::size_t> core_of_;               // [factor]
  std::vector<bool> covered_;                      // [component]
  std::vector<Query> groups_;
  std::vector<SortedSet> groups_of_;  // the factors of each
};

}  // namespace

std::vector<Query> marginal_queries(const FactorGraph& graph, std::span<const DimId> observed, double cheap_flops) {
  return Grouper(graph, observed, cheap_flops).run();
}

Query query_for(const FactorGraph& graph, std::vector<DimId> asked, std::span<const DimId> observed) {
  return Grouper(graph, observed, 0).run_for(std::move(asked));
}

FactorGraph query_graph(const FactorGraph& graph, const Query& query) {
  if (query.factors.size() == graph.factors().size()) return graph::total_graph(graph);
  graph::Derived derived(graph);
  const std::vector<std::vector<DimId>>& plates = graph.variable_plates();
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    if (graph.dims()[d].kind == DimKind::plate) derived.plate(d);
    if (graph.dims()[d].kind == DimKind::batch) derived.batch(d);
  }
  for (const std::size_t f : query.factors) {
    for (const DimId v : graph.factor_variables(f)) derived.variable(v, plates[v]);
  }
  for (const DimId v : query.variables) derived.variable(v, plates[v]);
  for (const std::size_t f : query.factors) {
    derived.factor(graph.factors()[f].name, graph.factors()[f].dims, graph.factors()[f].tied);
  }
  derived.output(graph::batch_axes(graph));
  return std::move(derived).finish();
}

}  // namespace plated::reduce
