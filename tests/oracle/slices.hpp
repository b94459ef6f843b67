// Which slices of plates and chains exist, and which unrolled variable a dim stands for in one of them.
//
// A chain's links lead through paths v0 → v1 → … → vm. In a chain of T slices such a path has T + m states, and slice
// t's vk is state t + k: so slice t's target is slice t+1's source. Outside the chain `^v` is v in slice 0 and `v$` is
// v in slice T − 1, which at T = 0 makes the last of a link's targets the first of its sources.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plated/evidence.hpp"
#include "plated/factor_graph.hpp"

namespace plated::oracle {

/// An index for each dim of a graph; only those of plates, chains and batch dims mean anything.
using Index = std::vector<std::int64_t>;

/// Calls `visit` once for each index of the given dims, in row-major order, with the index in `at`.
template <class Visit>
void for_each_index(const FactorGraph& graph, const std::vector<DimId>& dims, Index& at, Visit visit,
                    std::size_t depth = 0) {
  if (depth == dims.size()) return visit();
  for (at[dims[depth]] = 0; at[dims[depth]] < graph.dims()[dims[depth]].size; ++at[dims[depth]]) {
    for_each_index(graph, dims, at, visit, depth + 1);
  }
}

inline bool contains(const std::vector<DimId>& dims, DimId d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

class Slices {
 public:
  Slices(const FactorGraph& graph, Lengths lengths)
      : graph_(graph), lengths_(std::move(lengths)), plates_(graph.variable_plates()) {}

  /// The dims of a kind among some, each once, in declaration order.
  [[nodiscard]] std::vector<DimId> of_kind(const std::vector<DimId>& dims, DimKind kind) const {
    std::vector<DimId> result;
    for (DimId d = 0; d < graph_.dims().size(); ++d) {
      if (graph_.dims()[d].kind == kind && contains(dims, d)) result.push_back(d);
    }
    return result;
  }
  [[nodiscard]] std::vector<DimId> batch() const {
    std::vector<DimId> all(graph_.dims().size());
    for (DimId d = 0; d < all.size(); ++d) all[d] = d;
    return of_kind(all, DimKind::batch);
  }
  /// Plates, then chains: the order in which answers have them.
  [[nodiscard]] std::vector<DimId> sliced(const std::vector<DimId>& dims) const {
    std::vector<DimId> result = of_kind(dims, DimKind::plate);
    for (const DimId chain : of_kind(dims, DimKind::chain)) result.push_back(chain);
    return result;
  }

  /// P(v); an end lies in its variable's plates and outside of its chain.
  [[nodiscard]] std::vector<DimId> plates(DimId v) const {
    const Dim& dim = graph_.dims()[v];
    if (dim.end == End::none) return sliced(plates_[v]);
    return without(sliced(plates_[dim.of]), *chain_of(dim.of));
  }
  /// The plates and chains around a chain: those of all its linked variables but itself.
  [[nodiscard]] std::vector<DimId> around(DimId chain) const {
    for (const Chain& c : graph_.chains()) {
      if (c.dim != chain || c.links.empty()) continue;
      std::vector<DimId> result = without(sliced(plates_[c.links[0].source]), chain);
      for (const Link& link : c.links) {
        std::erase_if(result, [&](DimId d) { return !contains(plates_[link.source], d); });
      }
      return result;
    }
    return {};
  }
  /// The first chain among a variable's plates that is inside of no other.
  [[nodiscard]] std::optional<DimId> outermost_chain(DimId v) const {
    for (const DimId chain : of_kind(plates(v), DimKind::chain)) {
      if (of_kind(around(chain), DimKind::chain).empty()) return chain;
    }
    return std::nullopt;
  }
  /// Whether a dim is a chain whose linked variables are in a plate.
  [[nodiscard]] bool runs_inside(DimId chain, DimId plate) const {
    for (const Chain& c : graph_.chains()) {
      for (const Link& link : c.links) {
        if (c.dim == chain && contains(plates_[link.source], plate)) return true;
      }
    }
    return false;
  }
  /// The plates around a plate: those that every factor and variable in it has.
  [[nodiscard]] std::vector<DimId> around_plate(DimId plate) const {
    std::vector<std::vector<DimId>> inside;
    for (std::size_t f = 0; f < graph_.factors().size(); ++f) inside.push_back(graph_.factor_plates(f));
    for (DimId v = 0; v < plates_.size(); ++v) {
      const Dim& dim = graph_.dims()[v];
      if (dim.kind == DimKind::variable && dim.end == End::none) inside.push_back(plates_[v]);
    }
    std::erase_if(inside, [&](const std::vector<DimId>& plates) { return !contains(plates, plate); });
    std::vector<DimId> result;
    for (DimId d = 0; d < graph_.dims().size(); ++d) {
      const auto has = [&](const std::vector<DimId>& plates) { return contains(plates, d); };
      if (d != plate && !inside.empty() && std::all_of(inside.begin(), inside.end(), has) && !runs_inside(d, plate)) {
        result.push_back(d);
      }
    }
    return result;
  }
  /// Whether a slice of a plate exists at all, where `at` is and at any index of plates around it that are not `dims`.
  [[nodiscard]] bool exists(DimId plate, const std::vector<DimId>& dims, Index at) const {
    const auto given = lengths_.find(graph_.dims()[plate].name);
    if (given == lengths_.end() || given->second.values.empty()) return true;
    std::vector<DimId> axes = around_plate(plate), open;
    for (const DimId d : axes) {
      if (!contains(dims, d)) open.push_back(d);
    }
    if (given->second.shape.size() > axes.size()) {
      const std::vector<DimId> leading = batch();
      axes.insert(axes.begin(), leading.begin(), leading.end());
    }
    bool found = false;
    for_each_index(graph_, open, at, [&] {
      Index index;
      for (const DimId d : axes) index.push_back(at[d]);
      found = found || at[plate] < given->second.at(index);
    });
    return found;
  }

  /// How many slices of a chain exist where `at` is.
  [[nodiscard]] std::int64_t length(DimId chain, const Index& at) const {
    const auto given = lengths_.find(graph_.dims()[chain].name);
    if (given == lengths_.end()) return graph_.dims()[chain].size;
    std::vector<DimId> axes = around(chain);
    if (given->second.shape.size() > axes.size()) {
      const std::vector<DimId> leading = batch();
      axes.insert(axes.begin(), leading.begin(), leading.end());
    }
    Index index;
    for (const DimId d : axes) index.push_back(at[d]);
    return given->second.at(index);
  }

  /// Calls `visit` in each slice of these plates and chains that exists. A chain's length counts where all that is
  /// around the chain is among them.
  template <class Visit>
  void for_each_slice(const std::vector<DimId>& dims, Index& at, Visit visit) const {
    for_each_index(graph_, dims, at, [&] {
      for (const DimId chain : of_kind(dims, DimKind::chain)) {
        bool inside = true;
        for (const DimId d : around(chain)) inside = inside && contains(dims, d);
        if (inside && at[chain] >= length(chain, at)) return;
      }
      for (const DimId plate : of_kind(dims, DimKind::plate)) {
        if (!exists(plate, dims, at)) return;
      }
      visit();
    });
  }

  /// Names the unrolled variable that v stands for where `at` is: a variable, the slice, and a state of its path.
  [[nodiscard]] Index key(DimId v, Index at) const {
    const Dim& dim = graph_.dims()[v];
    if (dim.end != End::none) {
      const DimId chain = *chain_of(dim.of);
      at[chain] = dim.end == End::first ? 0 : length(chain, at) - 1;
      v = dim.of;
    }
    const auto [root, position] = place(v);
    Index result{static_cast<std::int64_t>(root)};
    for (const DimId d : sliced(plates_[v])) result.push_back(at[d] + (d == chain_of(v) ? position : 0));
    return result;
  }

  /// Calls `visit(key, domain)` for each unrolled variable that begins with v: none of an end, or of a link's target.
  template <class Visit>
  void for_each_copy(DimId v, Index& at, Visit visit) const {
    const Dim& dim = graph_.dims()[v];
    if (dim.kind != DimKind::variable || dim.end != End::none || place(v).first != v) return;
    const std::optional<DimId> chain = chain_of(v);
    if (order(v) == 0) return for_each_slice(plates(v), at, [&] { visit(key(v, at), dim.size); });
    for_each_slice(without(sliced(plates_[v]), *chain), at, [&] {
      const std::int64_t states = length(*chain, at) + order(v);
      for (at[*chain] = 0; at[*chain] < states; ++at[*chain]) visit(key(v, at), dim.size);
    });
  }

 private:
  static std::vector<DimId> without(std::vector<DimId> dims, DimId d) {
    std::erase(dims, d);
    return dims;
  }
  /// The chain that links v, or else the one that v is in.
  [[nodiscard]] std::optional<DimId> chain_of(DimId v) const {
    for (const Chain& chain : graph_.chains()) {
      for (const Link& link : chain.links) {
        if (link.source == v || link.target == v) return chain.dim;
      }
    }
    const std::vector<DimId> chains = of_kind(plates_[v], DimKind::chain);
    return chains.size() == 1 ? std::optional(chains[0]) : std::nullopt;
  }
  /// Where a path begins that leads to v, and how many links later v comes.
  [[nodiscard]] std::pair<DimId, std::int64_t> place(DimId v) const {
    for (const Chain& chain : graph_.chains()) {
      for (const Link& link : chain.links) {
        if (link.target != v) continue;
        const auto [root, position] = place(link.source);
        return {root, position + 1};
      }
    }
    return {v, 0};
  }
  /// The number of links of the path that begins at v.
  [[nodiscard]] std::int64_t order(DimId v) const {
    for (const Chain& chain : graph_.chains()) {
      for (const Link& link : chain.links) {
        if (link.source == v) return order(link.target) + 1;
      }
    }
    return 0;
  }

  const FactorGraph& graph_;
  Lengths lengths_;
  std::vector<std::vector<DimId>> plates_;
};

}  // namespace plated::oracle
