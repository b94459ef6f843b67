// One batch of an unrolled graph: its variables' copies, its factors' copies, and every assignment one by one.
#pragma once

#include <optional>

#include "oracle/oracle.hpp"

namespace plated::oracle {

using States = std::vector<std::int64_t>;

/// A plate and the slice of it that is taken out of the world: its factors and variables do not exist.
struct Without {
  DimId plate = 0;
  std::int64_t slice = 0;
};

inline std::size_t index_of(const Site& site, const States& states) {
  std::int64_t index = site.base;
  for (const auto& [variable, stride] : site.variables) index += states[variable] * stride;
  return static_cast<std::size_t>(index);
}

/// One batch of the unrolled graph: `at` holds the indices of its batch dims.
class World {
 public:
  World(const FactorGraph& graph, std::vector<std::int64_t> at, std::optional<Without> without)
      : graph_(graph), at_(std::move(at)), without_(without) {
    const std::vector<std::vector<DimId>> plates = graph.variable_plates();
    for (DimId v = 0; v < graph.dims().size(); ++v) {
      if (graph.dims()[v].kind != DimKind::variable) continue;
      for_each_slice(plates[v], [&] {
        ids_.emplace(key(v, plates[v]), domains.size());
        domains.push_back(graph.dims()[v].size);
      });
    }
    plates_ = plates;
    for (std::size_t f = 0; f < graph.factors().size(); ++f) {
      for (const Site& site : sites(f, graph.factors()[f].dims, graph.factor_plates(f))) factors.push_back(site);
    }
  }

  /// One site of a table with these axes for each slice of these plates.
  std::vector<Site> sites(std::size_t owner, const std::vector<DimId>& axes, const std::vector<DimId>& plates) {
    Tensor::Shape shape;
    for (const DimId d : axes) shape.push_back(graph_.dims()[d].size);
    const Tensor::Shape strides = Tensor::row_major(shape);
    std::vector<Site> result;
    for_each_slice(plates, [&] {
      Site site{.owner = owner, .base = 0, .variables = {}};
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const DimId d = axes[axis];
        if (graph_.dims()[d].kind == DimKind::variable) {
          site.variables.emplace_back(ids_.at(key(d, plates_[d])), strides[axis]);
        } else {
          site.base += at_[d] * strides[axis];
        }
      }
      result.push_back(std::move(site));
    });
    return result;
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

  std::vector<std::int64_t> domains;  // of the unrolled variables: by variable, then by slice
  std::vector<Site> factors;

 private:
  template <class Visit>
  void for_each_slice(const std::vector<DimId>& plates, Visit visit) {
    for_each_index(graph_, plates, at_, [&] {
      const bool inside = without_ && std::count(plates.begin(), plates.end(), without_->plate) > 0;
      if (!inside || at_[without_->plate] != without_->slice) visit();
    });
  }
  std::vector<std::int64_t> key(DimId v, const std::vector<DimId>& plates) const {
    std::vector<std::int64_t> result{static_cast<std::int64_t>(v)};
    for (const DimId b : plates) result.push_back(at_[b]);
    return result;
  }

  const FactorGraph& graph_;
  std::vector<std::int64_t> at_;
  std::optional<Without> without_;
  std::vector<std::vector<DimId>> plates_;
  std::map<std::vector<std::int64_t>, std::size_t> ids_;
};

}  // namespace plated::oracle
