// One batch of an unrolled graph: its variables' copies, its factors' copies, and every assignment one by one.
#pragma once

#include <functional>
#include <optional>

#include "oracle/oracle.hpp"

namespace plated::oracle {

using States = std::vector<std::int64_t>;

/// A plate and the slice of it that is taken out of the world: its factors and variables do not exist.
struct Without {
  DimId plate = 0;
  std::int64_t slice = 0;
};

/// Whether a factor's copy at an index is left out of the world, while all variables stay.
using LeaveOut = std::function<bool(std::size_t factor, const Index& at)>;

inline std::size_t index_of(const Site& site, const States& states) {
  std::int64_t index = site.base;
  for (const auto& [variable, stride] : site.variables) index += states[variable] * stride;
  return static_cast<std::size_t>(index);
}

/// One batch of the unrolled graph: `at` holds the indices of its batch dims.
class World {
 public:
  World(const FactorGraph& graph, Index at, std::optional<Without> without, const Lengths& lengths = {},
        const LeaveOut& leave_out = {})
      : slices(graph, lengths), graph_(graph), at_(std::move(at)), without_(without) {
    for (DimId v = 0; v < graph.dims().size(); ++v) {
      slices.for_each_copy(v, at_, [&](const Index& key, std::int64_t domain) {
        if (is_taken_out(slices.plates(v))) return;
        ids_.emplace(key, domains.size());
        domains.push_back(domain);
      });
    }
    for (std::size_t f = 0; f < graph.factors().size(); ++f) {
      add_sites(factors, f, graph.factors()[f].dims, slices.sliced(graph.factor_plates(f)), leave_out);
    }
  }

  /// One site of a table with these axes for each slice of these plates and chains.
  std::vector<Site> sites(std::size_t owner, const std::vector<DimId>& axes, const std::vector<DimId>& plates) {
    std::vector<Site> result;
    add_sites(result, owner, axes, plates, {});
    return result;
  }

  /// Calls `visit(copy)` with the copy of v in each of its slices, −1 for slices that do not exist; the order is that
  /// of the variable's plates in an answer.
  template <class Visit>
  void for_each_place(DimId v, Visit visit) const {
    const std::vector<DimId> plates = slices.plates(v);
    std::vector<Index> existing;
    Index at = at_;
    const auto index = [&] {
      Index result;
      for (const DimId d : plates) result.push_back(at[d]);
      return result;
    };
    slices.for_each_slice(plates, at, [&] { existing.push_back(index()); });
    for_each_index(graph_, plates, at, [&] {
      const bool exists = std::find(existing.begin(), existing.end(), index()) != existing.end();
      visit(exists ? static_cast<std::int64_t>(ids_.at(slices.key(v, at))) : -1);
    });
  }

  template <class Visit>
  void for_each_assignment(Visit visit) const {
    if (std::count(domains.begin(), domains.end(), 0) > 0) return;
    States states(domains.size(), 0);
    for (bool more = true; more;) {
      visit(states);
      more = false;
      for (std::size_t k = states.size(); k-- > 0 && !more;) {
        more = ++states[k] < domains[k];
        if (!more) states[k] = 0;
      }
    }
  }

  Slices slices;
  std::vector<std::int64_t> domains;  // of the unrolled variables: by variable, then by slice
  std::vector<Site> factors;

 private:
  bool is_taken_out(const std::vector<DimId>& plates) const {
    return without_ && contains(plates, without_->plate) && at_[without_->plate] == without_->slice;
  }

  void add_sites(std::vector<Site>& result, std::size_t owner, const std::vector<DimId>& axes,
                 const std::vector<DimId>& plates, const LeaveOut& leave_out) {
    Tensor::Shape shape;
    for (const DimId d : axes) shape.push_back(graph_.dims()[d].size);
    const Tensor::Shape strides = Tensor::row_major(shape);
    slices.for_each_slice(plates, at_, [&] {
      if (is_taken_out(plates) || (leave_out && leave_out(owner, at_))) return;
      Site site{.owner = owner, .base = 0, .variables = {}};
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const DimId d = axes[axis];
        if (graph_.dims()[d].kind == DimKind::variable) {
          site.variables.emplace_back(ids_.at(slices.key(d, at_)), strides[axis]);
        } else {
          site.base += at_[d] * strides[axis];
        }
      }
      result.push_back(std::move(site));
    });
  }

  const FactorGraph& graph_;
  Index at_;
  std::optional<Without> without_;
  std::map<Index, std::size_t> ids_;
};

}  // namespace plated::oracle
