// Rewrites a problem whose factors or outputs hold variables of a chain's first or last slice.
#include "planner/point_ends.hpp"

#include <algorithm>

#include "graph/ends.hpp"

namespace plated::planner {
namespace {

using base::contains;
using base::sorted;
using base::unite;

class PointEnds {
 public:
  PointEnds(const FactorGraph& graph, Problem& problem) : graph_(graph), problem_(problem) {}

  void run() {
    for (DimId d = 0; d < graph_.dims().size(); ++d) {
      if (is_point_end(graph_, d)) ends_.push_back(d);
    }
    if (ends_.empty()) return;
    SortedSet own;  // ends that stay variables
    for (ProblemOutput& output : problem_.outputs) {
      const SortedSet held = base::intersect(output.variables, ends_);
      if (held.empty()) continue;
      if (in_one_slice(output.variables, held[0])) {
        output.in_slice_of = held[0];
        output.variables = inside(output.variables, chain_of(graph_, held[0]));
        output.plates = {};
        for (const DimId v : output.variables) output.plates = unite(output.plates, problem_.variable_plates[v]);
      } else {
        own = unite(own, held);
      }
    }
    for (ProblemFactor& factor : problem_.factors) {
      const SortedSet held = base::intersect(factor.variables, ends_);
      if (held.empty()) continue;
      if (can_move(factor, held)) {
        move(factor, held[0]);
      } else {
        own = unite(own, held);
      }
    }
    for (const DimId end : own) {
      const DimId variable = graph_.dims()[end].of;
      problem_.factors.push_back({.operand = -1,
                                  .variables = sorted({variable, end}),
                                  .plates = problem_.variable_plates[variable],
                                  .carried = sorted({variable, end}),
                                  .in_slice_of = end,
                                  .holds_equal = true});
    }
  }

 private:
  /// Whether all ends of the chain among some variables are of the same slice.
  [[nodiscard]] bool in_one_slice(const SortedSet& variables, DimId end) const {
    return std::all_of(variables.begin(), variables.end(), [&](DimId v) {
      const Dim& dim = graph_.dims()[v];
      return dim.end == End::none || dim.end == graph_.dims()[end].end || chain_of(graph_, v) != chain_of(graph_, end);
    });
  }

  /// The names that ends of a chain have in its slices.
  [[nodiscard]] SortedSet inside(const SortedSet& dims, DimId chain) const {
    SortedSet moved;
    for (const DimId d : dims) {
      const Dim& dim = graph_.dims()[d];
      moved.push_back(dim.end != End::none && chain_of(graph_, d) == chain ? dim.of : d);
    }
    return sorted(std::move(moved));
  }

  /// Whether no message along the chain can carry an end: its variable is in plates inside of the slices.
  [[nodiscard]] bool is_inside_slices(DimId end, DimId chain) const {
    const SortedSet& plates = problem_.variable_plates[graph_.dims()[end].of];
    return std::none_of(problem_.links.begin(), problem_.links.end(), [&](const ProblemLink& link) {
      return link.chain == chain && base::is_subset(plates, problem_.variable_plates[link.source]);
    });
  }

  /// Whether all that a factor holds is in one slice, or messages along the chain carry it anyway, or must do so.
  [[nodiscard]] bool can_move(const ProblemFactor& factor, const SortedSet& held) const {
    const DimId chain = chain_of(graph_, held[0]);
    if (!in_one_slice(factor.variables, held[0])) return false;
    if (is_inside_slices(held[0], chain) &&
        unite(factor.plates, {chain}) == problem_.variable_plates[graph_.dims()[held[0]].of]) {
      return true;
    }
    return std::all_of(factor.variables.begin(), factor.variables.end(), [&](DimId v) {
      const Dim& dim = graph_.dims()[v];
      if (dim.end != End::none && chain_of(graph_, v) == chain) return true;
      return std::any_of(problem_.factors.begin(), problem_.factors.end(), [&](const ProblemFactor& other) {
        return &other != &factor && contains(other.plates, chain) && contains(other.variables, v) && !other.in_slice_of;
      });
    });
  }

  void move(ProblemFactor& factor, DimId end) {
    const DimId chain = chain_of(graph_, end);
    factor.variables = inside(factor.variables, chain);
    factor.carried = inside(factor.carried, chain);
    factor.plates = unite(factor.plates, {chain});
    factor.in_slice_of = end;
  }

  const FactorGraph& graph_;
  Problem& problem_;
  SortedSet ends_;
};

}  // namespace

bool is_point_end(const FactorGraph& graph, DimId dim) {
  const Dim& end = graph.dims()[dim];
  if (end.end == End::none) return false;
  for (const Chain& chain : graph.chains()) {
    for (const Link& link : chain.links) {
      if (end.of == (end.end == End::first ? link.source : link.target)) return false;
    }
  }
  return true;
}

DimId chain_of(const FactorGraph& graph, DimId end) {
  const DimId variable = graph.dims()[end].of;
  return *graph::chain_of_ends(graph, variable, graph.variable_plates()[variable]);
}

void add_exponents_of_ends(const FactorGraph& graph, std::map<DimId, std::vector<DimId>>& exponents) {
  for (DimId d = 0; d < graph.dims().size(); ++d) {
    if (!is_point_end(graph, d)) continue;
    exponents.try_emplace(d, std::vector<DimId>{chain_of(graph, d)});
    exponents.try_emplace(differing(d), std::vector<DimId>{graph.dims()[d].of, d});
  }
}

void place_point_ends(const FactorGraph& graph, Problem& problem) { PointEnds(graph, problem).run(); }

}  // namespace plated::planner
