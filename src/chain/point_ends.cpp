// Rewrites the factors and outputs that hold a slice's variables from outside, and gives factors to variables without.
#include "chain/point_ends.hpp"

#include <algorithm>
#include <map>

#include "base/disjoint_sets.hpp"
#include "base/sorted_set.hpp"
#include "graph/derived.hpp"
#include "graph/ends.hpp"
#include "plated/error.hpp"

namespace plated::chain {

using base::contains;
using base::is_subset;
using base::sorted;
using base::SortedSet;
using base::subtract;
using base::unite;

/// Decides how each end is rewritten, and writes the graph.
class PointEnds::Writer {
 public:
  Writer(const FactorGraph& given, PointEnds& to) : given_(given), to_(to) {
    for (const Chain& chain : given.chains()) {
      for (const Link& link : chain.links) {
        sources_.push_back(link.source);
        targets_.push_back(link.target);
      }
    }
    sources_ = sorted(std::move(sources_));
    targets_ = sorted(std::move(targets_));
  }

  void run() {
    std::vector<std::size_t> holders;
    for (std::size_t f = 0; f < given_.factors().size(); ++f) {
      if (has_points(given_.factors()[f].dims)) holders.push_back(f);
    }
    const auto held = [&](const Output& output) { return has_points(output.dims); };
    const bool any = !holders.empty() || std::any_of(given_.outputs().begin(), given_.outputs().end(), held);
    plates_ = given_.variable_plates();
    if (any) rewrite(holders);
    hold_all();
  }

 private:
  void rewrite(const std::vector<std::size_t>& holders) {
    std::map<DimId, std::string> apart;  // ends that become variables, and what holds them
    const auto set_apart = [&](const std::vector<DimId>& dims, const std::string& holder) {
      for (const DimId d : dims) {
        if (is_point(d)) apart.try_emplace(d, holder);
      }
    };
    graph::Derived::state_plates(to_.graph_, plates_);
    for (const std::size_t f : holders) {
      const Factor& factor = given_.factors()[f];
      const std::string holder = "factor '" + factor.name + "'";
      const auto deep = std::find_if(factor.dims.begin(), factor.dims.end(), [&](DimId d) { return is_deep(d); });
      const auto any = std::find_if(factor.dims.begin(), factor.dims.end(), [&](DimId d) { return is_point(d); });
      const DimId end = deep != factor.dims.end() ? *deep : *any;
      if (deep == factor.dims.end() && !fits_slice(f, end)) {
        set_apart(factor.dims, holder);
        continue;
      }
      put_in_slice(f, end, factor, holder);
      set_apart(others(factor.dims, end, holder), holder);
    }
    for (std::size_t o = 0; o < given_.outputs().size(); ++o) {
      const std::vector<DimId>& dims = given_.outputs()[o].dims;
      const auto deep = std::find_if(dims.begin(), dims.end(), [&](DimId d) { return is_deep(d); });
      if (deep == dims.end()) {
        set_apart(dims, "an output");
      } else {
        set_apart(others(dims, *deep, "an output"), "an output");
        ask_all_slices(o, *deep);
      }
    }
    for (const auto& [end, holder] : apart) equate(end, holder);
  }

  /// Messages hold what the chains of a graph link, but for those inside slices of another.
  void hold_all() {
    SortedSet held;
    for (const Factor& factor : to_.graph_.factors()) held = unite(held, sorted(factor.dims));
    for (DimId v = 0; v < given_.dims().size(); ++v) {
      if (dim(v).kind != DimKind::variable || dim(v).end != End::none || contains(held, v)) continue;
      const auto linking = given_.linking_chain(v);
      const bool in_slices = std::any_of(given_.chains().begin(), given_.chains().end(), [&](const Chain& chain) {
        return chain.dim != linking && contains(plates_[v], chain.dim);
      });
      if (!in_slices) continue;
      if (to_.ones_.empty()) graph::Derived::state_plates(to_.graph_, plates_);
      graph::Derived::put_factor(to_.graph_, to_.graph_.factors().size(),
                                 {.name = unused_name("any " + dim(v).name), .dims = {v}, .tied = plates_[v]});
      to_.ones_.push_back(v);
    }
  }

  /// What a holder has beside the variables of a slice.
  std::vector<DimId> others(std::vector<DimId> dims, DimId end, const std::string& holder) {
    std::erase_if(dims, [&](DimId d) { return of_same_slice(d, end); });
    for (const DimId d : dims) {
      if (dim(d).end == End::none || chain_of(d) != chain_of(end) || (is_point(d) && !is_deep(d))) continue;
      throw OptionError(holder + " holds '" + dim(end).name + "', which is in a plate inside the slices of chain '" +
                        dim(chain_of(end)).name + "', together with the chain's '" + dim(d).name +
                        "': unroll the chain for that");
    }
    return dims;
  }
  [[nodiscard]] const Dim& dim(DimId d) const { return given_.dims()[d]; }
  [[nodiscard]] bool is_point(DimId d) const {
    if (dim(d).end == End::none) return false;
    return !contains(dim(d).end == End::first ? sources_ : targets_, dim(d).of);
  }
  [[nodiscard]] bool has_points(const std::vector<DimId>& dims) const {
    return std::any_of(dims.begin(), dims.end(), [&](DimId d) { return is_point(d); });
  }
  [[nodiscard]] DimId chain_of(DimId end) const {
    return *graph::chain_of_ends(given_, dim(end).of, plates_[dim(end).of]);
  }
  /// Whether two ends are of the same part of the same slice.
  [[nodiscard]] bool of_same_slice(DimId d, DimId end) {
    if (dim(d).end != dim(end).end || chain_of(d) != chain_of(end)) return false;
    Joined& joined = joined_in(chain_of(end));
    return joined.sets.root(dim(d).of) == joined.sets.root(dim(end).of);
  }
  /// Whether a point is in plates inside the slices: as a variable outside of the chain it would tie them together.
  [[nodiscard]] bool is_deep(DimId d) {
    if (!is_point(d)) return false;
    const DimId chain = chain_of(d);
    Joined& joined = joined_in(chain);
    bool deep = false;
    for (const DimId source : sources_) {
      if (given_.linking_chain(source) != chain) continue;
      deep = !is_subset(plates_[d], plates_[source]);
      if (joined.sets.root(source) == joined.sets.root(dim(d).of)) break;
    }
    return deep;
  }

  /// The variables of a chain's slices that its factors and links join, and what these factors hold outside of it.
  struct Joined {
    base::DisjointSets sets;
    std::vector<SortedSet> outer;  // by root
  };
  Joined& joined_in(DimId chain) {
    if (const auto known = joined_.find(chain); known != joined_.end()) return known->second;
    Joined joined{base::DisjointSets(given_.dims().size()), std::vector<SortedSet>(given_.dims().size())};
    for (const Chain& other : given_.chains()) {
      for (const Link& link : other.links) joined.sets.join(link.source, link.target);
    }
    for (DimId d = 0; d < given_.dims().size(); ++d) {
      if (dim(d).end != End::none && contains(plates_[d], chain)) joined.sets.join(d, dim(d).of);
    }
    std::vector<std::pair<SortedSet, SortedSet>> factors;  // inside the chain, and outside
    for (std::size_t f = 0; f < given_.factors().size(); ++f) {
      if (!contains(given_.factor_plates(f), chain)) continue;
      SortedSet inside;
      const SortedSet all = given_.factor_variables(f);
      for (const DimId v : all) {
        if (contains(plates_[v], chain)) inside.push_back(v);
      }
      if (inside.empty()) continue;
      for (const DimId v : inside) joined.sets.join(v, inside[0]);
      factors.emplace_back(inside, subtract(all, inside));
    }
    for (const auto& [inside, outside] : factors) {
      SortedSet& outer = joined.outer[joined.sets.root(inside[0])];
      outer = unite(outer, outside);
    }
    return joined_.emplace(chain, std::move(joined)).first->second;
  }

  /// Whether all that a factor holds is in one slice, or is what its part of the chain holds outside anyway.
  [[nodiscard]] bool fits_slice(std::size_t f, DimId end) {
    Joined& joined = joined_in(chain_of(end));
    const auto root = joined.sets.root(dim(end).of);
    SortedSet around;
    for (const DimId v : given_.factor_variables(f)) {
      if (of_same_slice(v, end)) {
        around = unite(around, plates_[v]);
      } else if (is_point(v) || !contains(joined.outer[root], v)) {
        return false;
      }
    }
    return is_subset(given_.factor_plates(f), around);
  }

  /// Adds a point whose operand's axes are those of a factor outside.
  void put_in_slice(std::size_t index, DimId end, const Factor& outside, const std::string& holder,
                    bool equates = false) {
    Point point{.factor = index,
                .chain = chain_of(end),
                .end = dim(end).end,
                .equates = equates,
                .holder = holder + " holds '" + dim(end).name + "'"};
    Factor factor{.name = outside.name};
    factor.dims.push_back(point.chain);
    if (point.end == End::last) {
      // Which slice is the last differs from row to row.
      const auto carried = [&](DimId d) { return chain::holds(outside.dims, d); };
      for (DimId d = 0; d < given_.dims().size(); ++d) {
        const bool row = dim(d).kind == DimKind::batch || contains(plates_[end], d);
        if (row && !carried(d)) factor.dims.push_back(d);
      }
    }
    point.more = factor.dims.size();
    factor.tied = subtract(sorted(outside.tied), sorted(factor.dims));
    for (const DimId d : outside.dims) {
      const bool of_slice = !equates && of_same_slice(d, end);
      factor.dims.push_back(of_slice ? dim(d).of : d);
    }
    graph::Derived::put_factor(to_.graph_, index, std::move(factor));
    to_.points_.push_back(std::move(point));
  }

  void ask_all_slices(std::size_t index, DimId end) {
    std::vector<DimId> dims{chain_of(end)};
    for (const DimId d : given_.outputs()[index].dims) dims.push_back(of_same_slice(d, end) ? dim(d).of : d);
    to_.points_.push_back({.factor = index,
                           .chain = dims[0],
                           .end = dim(end).end,
                           .more = 1,
                           .is_output = true,
                           .holder = "an output holds '" + dim(end).name + "'"});
    graph::Derived::put_output(to_.graph_, index, std::move(dims));
  }

  void equate(DimId end, const std::string& holder) {
    const std::string name = unused_name("the slice's " + dim(end).name);
    put_in_slice(to_.graph_.factors().size(), end, {.name = name, .dims = {dim(end).of, end}, .tied = plates_[end]},
                 holder, true);
    graph::Derived::free_end(to_.graph_, end, plates_[end]);
  }

  [[nodiscard]] std::string unused_name(std::string name) const {
    const auto taken = [&](const Factor& factor) { return factor.name == name; };
    while (std::any_of(given_.factors().begin(), given_.factors().end(), taken)) name += "'";
    return name;
  }

  const FactorGraph& given_;
  PointEnds& to_;
  std::vector<std::vector<DimId>> plates_;
  SortedSet sources_, targets_;
  std::map<DimId, Joined> joined_;
};

PointEnds::PointEnds(const FactorGraph& graph) : factors_(graph.factors().size()), graph_(graph) {
  Writer(graph, *this).run();
}

const PointEnds::Point* PointEnds::point(std::size_t factor) const {
  const auto found = std::find_if(points_.begin(), points_.end(),
                                  [&](const Point& each) { return each.factor == factor && !each.is_output; });
  return found == points_.end() ? nullptr : &*found;
}

const std::vector<DimId>& PointEnds::axes(const Point& point) const {
  return point.is_output ? graph_.outputs()[point.factor].dims : graph_.factors()[point.factor].dims;
}

}  // namespace plated::chain
