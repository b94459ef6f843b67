// Numbers the rows of states that a table is read at by what is in them.
#include "learn/equal_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/hash.hpp"
#include "base/sorted_set.hpp"
#include "graph/answer_axes.hpp"
#include "graph/derived.hpp"
#include "graph/length_axes.hpp"
#include "model/rows.hpp"
#include "tensor/visit_integers.hpp"

namespace plated::learn {
namespace {

using base::SortedSet;

/// A table whose rows can be joined.
struct ReadInRows {
  std::size_t factor = 0;
  DimId child = 0;
  std::vector<DimId> others;  // observed besides
  SortedSet outer, inner;     // plates of its hidden variables, and those inside of their slices
};

bool is_held_once(const FactorGraph& graph, DimId variable) {
  std::ptrdiff_t times = 0;
  for (const Factor& factor : graph.factors()) times += std::count(factor.dims.begin(), factor.dims.end(), variable);
  const auto is_end = [&](const Dim& dim) { return dim.end != End::none && dim.of == variable; };
  return times == 1 && !graph.linking_chain(variable) && std::none_of(graph.dims().begin(), graph.dims().end(), is_end);
}

/// Whether all slices of a plate are there, once each.
bool is_whole(const Model& observed, const Weights& weights, DimId plate) {
  const Dim& dim = observed.graph.dims()[plate];
  return dim.kind == DimKind::plate && !observed.lengths.contains(dim.name) && !weights.contains(dim.name);
}

std::optional<ReadInRows> read_in_rows(const Model& observed, const Weights& weights, std::size_t factor) {
  const FactorGraph& graph = observed.graph;
  const std::vector<DimId>& dims = graph.factors()[factor].dims;
  const auto child = graph.find(observed.children[factor]);
  if (!child || !model::can_be_listed(observed, *child) || base::sorted(dims).size() != dims.size()) {
    return std::nullopt;
  }
  ReadInRows result{.factor = factor, .child = *child};
  for (const DimId v : graph.factor_variables(factor)) {
    const Dim& dim = graph.dims()[v];
    const auto seen = observed.evidence.find(dim.name);
    if (dim.end != End::none) return std::nullopt;
    if (seen == observed.evidence.end()) {
      if (v == *child) return std::nullopt;
      result.outer = base::unite(result.outer, graph.variable_plates()[v]);
    } else if (v != *child) {
      if (!is_held_once(graph, v)) return std::nullopt;
      result.others.push_back(v);
    }
  }
  const std::vector<DimId> plates = graph.factor_plates(factor);
  result.inner = base::subtract(plates, result.outer);
  const bool plain = std::all_of(result.inner.begin(), result.inner.end(),
                                 [&](DimId plate) { return is_whole(observed, weights, plate); });
  const bool outside = std::none_of(dims.begin(), dims.end(), [&](DimId d) { return base::contains(result.outer, d); });
  if (!plain || !outside || result.inner.empty() || result.outer.empty()) return std::nullopt;
  return result;
}

/// The states of one variable in the slices of some plates: entries are `inner` steps from the first one of a slice.
struct States {
  const IntegerView* view = nullptr;
  std::vector<std::int64_t> outer;        // strides, by the outer plates
  std::vector<std::int64_t> inner_steps;  // [cell]

  States(const IntegerView& states, const FactorGraph& graph, const std::vector<DimId>& plates, const ReadInRows& at)
      : view(&states), inner_steps(1, 0) {
    const auto stride = [&](DimId plate) {
      const auto found = std::find(plates.begin(), plates.end(), plate);
      return found == plates.end() ? 0 : states.strides()[static_cast<std::size_t>(found - plates.begin())];
    };
    for (const DimId plate : at.outer) outer.push_back(stride(plate));
    for (const DimId plate : at.inner) {
      std::vector<std::int64_t> more;
      for (const std::int64_t step : inner_steps) {
        for (std::int64_t k = 0; k < graph.dims()[plate].size; ++k) more.push_back(step + k * stride(plate));
      }
      inner_steps = std::move(more);
    }
  }
  /// Puts the states of a slice behind others.
  void read(const std::vector<std::int64_t>& slice, std::vector<std::int32_t>& row) const {
    std::int64_t first = 0;
    for (std::size_t k = 0; k < outer.size(); ++k) first += slice[k] * outer[k];
    tensor::visit_integers(*view, [&](const auto* entries) {
      for (const std::int64_t step : inner_steps) row.push_back(static_cast<std::int32_t>(entries[first + step]));
    });
  }
};

/// Which slices of some plates there are.
class Existing {
 public:
  Existing(const Model& observed, const SortedSet& plates) {
    const FactorGraph& graph = observed.graph;
    for (const DimId plate : plates) shape_.push_back(graph.dims()[plate].size);
    for (std::size_t k = 0; k < plates.size(); ++k) {
      const auto given = observed.lengths.find(graph.dims()[plates[k]].name);
      if (given == observed.lengths.end()) continue;
      Ragged ragged{.axis = k, .lengths = &given->second, .axes = {}};
      for (const DimId d : graph::length_axes(graph, plates[k])) {
        const auto found = std::find(plates.begin(), plates.end(), d);
        // A run refuses lengths of another shape.
        if (found == plates.end()) ragged.lengths = nullptr;
        ragged.axes.push_back(static_cast<std::size_t>(found - plates.begin()));
      }
      Tensor::Shape shape;
      for (const std::size_t axis : ragged.axes) shape.push_back(axis < shape_.size() ? shape_[axis] : 0);
      if (ragged.lengths != nullptr && ragged.lengths->shape == shape) ragged_.push_back(std::move(ragged));
    }
  }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const { return shape_; }
  [[nodiscard]] bool has(const std::vector<std::int64_t>& slice) const {
    return std::all_of(ragged_.begin(), ragged_.end(), [&](const Ragged& ragged) {
      std::int64_t at = 0;
      for (const std::size_t axis : ragged.axes) at = at * shape_[axis] + slice[axis];
      return slice[ragged.axis] < ragged.lengths->values[static_cast<std::size_t>(at)];
    });
  }

 private:
  struct Ragged {
    std::size_t axis = 0;
    const Integers* lengths = nullptr;
    std::vector<std::size_t> axes;  // of the lengths
  };
  std::vector<std::int64_t> shape_;
  std::vector<Ragged> ragged_;
};

/// Different rows, one behind the other, and the slices that have them.
struct RowKinds {
  std::size_t width = 0;
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> of;                   // [slice that there is]
  std::vector<std::vector<std::int32_t>> slices;  // [plate][slice that there is]

  [[nodiscard]] std::size_t count() const { return rows.size() / width; }
};

/// None where more of the cells would be left, or a state besides the child's is missing.
std::optional<RowKinds> row_kinds_of(const std::vector<States>& states, const Existing& slices, double most_left) {
  const std::size_t cells = states[0].inner_steps.size();
  if (states[0].view->size() == 0) return std::nullopt;
  // Each slice is read at its row, besides the cells of the row itself.
  const auto pays = [&](std::size_t kinds, std::size_t all) {
    return static_cast<double>(kinds * cells + all) <= most_left * static_cast<double>(all * cells);
  };
  const std::size_t all = states[0].view->size() / cells;
  RowKinds kinds{.width = cells * states.size(), .slices = {slices.shape().size(), std::vector<std::int32_t>()}};
  std::unordered_multimap<std::size_t, std::size_t> known;  // by their hash
  std::vector<std::int64_t> slice(slices.shape().size(), 0);
  std::vector<std::int32_t> row;
  for (std::size_t left = all; left-- > 0;) {
    if (slices.has(slice)) {
      if (!pays(kinds.count(), all)) return std::nullopt;
      row.clear();
      for (const States& of : states) of.read(slice, row);
      if (std::any_of(row.begin() + static_cast<std::ptrdiff_t>(cells), row.end(), [](auto s) { return s < 0; })) {
        return std::nullopt;
      }
      base::Hash hash;
      for (const std::int32_t state : row) hash.add(state);
      const auto [begin, end] = known.equal_range(hash.value());
      const auto found = std::find_if(begin, end, [&](const auto& entry) {
        return std::equal(row.begin(), row.end(),
                          kinds.rows.begin() + static_cast<std::ptrdiff_t>(entry.second * kinds.width));
      });
      const std::size_t kind = found == end ? kinds.count() : found->second;
      if (found == end) {
        known.emplace(hash.value(), kind);
        kinds.rows.insert(kinds.rows.end(), row.begin(), row.end());
      }
      kinds.of.push_back(static_cast<std::int32_t>(kind));
      for (std::size_t k = 0; k < slice.size(); ++k) kinds.slices[k].push_back(static_cast<std::int32_t>(slice[k]));
    }
    for (std::size_t k = slice.size(); k-- > 0 && ++slice[k] == slices.shape()[k];) slice[k] = 0;
  }
  if (kinds.of.empty() || !pays(kinds.count(), kinds.of.size())) return std::nullopt;
  return kinds;
}

IntegerView owned(std::vector<std::int32_t> entries) {
  const auto kept = std::make_shared<std::vector<std::int32_t>>(std::move(entries));
  return IntegerView::view(*kept).keeping(kept);
}

/// The cells of all kinds, as a list.
model::Listed list_of(const Model& observed, const ReadInRows& at, const RowKinds& kinds) {
  const std::size_t cells = kinds.width / (1 + at.others.size());
  const auto column = [&](const auto& entry) {
    std::vector<std::int32_t> entries;
    entries.reserve(kinds.count() * cells);
    for (std::size_t kind = 0; kind < kinds.count(); ++kind) {
      for (std::size_t cell = 0; cell < cells; ++cell) entries.push_back(static_cast<std::int32_t>(entry(kind, cell)));
    }
    return owned(std::move(entries));
  };
  const auto states = [&](std::size_t which) {
    return column(
        [&](std::size_t kind, std::size_t cell) { return kinds.rows[kind * kinds.width + which * cells + cell]; });
  };
  model::GroupedRows rows{.factor = at.factor,
                          .child = at.child,
                          .states = states(0),
                          .others = {},
                          .groups = column([](std::size_t kind, std::size_t) { return kind; }),
                          .count = static_cast<std::int64_t>(kinds.count())};
  for (std::size_t k = 0; k < at.others.size(); ++k) rows.others.emplace(at.others[k], states(1 + k));
  std::size_t step = cells;
  for (const DimId plate : at.inner) {
    const auto size = static_cast<std::size_t>(observed.graph.dims()[plate].size);
    step /= size;
    rows.others.emplace(plate, column([&](std::size_t, std::size_t cell) { return cell / step % size; }));
  }
  return {observed, rows};
}

/// Makes the child the number of a row, which slices list.
void put_rows(Model& model, const ReadInRows& at, RowKinds kinds) {
  std::vector<std::vector<DimId>> plates = model.graph.variable_plates();
  plates[at.child] = at.outer;
  for (const DimId v : at.others) plates[v].clear();
  graph::Derived::state_plates(model.graph, plates);
  Factor factor = model.graph.factors()[at.factor];
  std::erase_if(factor.dims, [&](DimId d) {
    return d == at.child || base::contains(at.inner, d) ||
           std::find(at.others.begin(), at.others.end(), d) != at.others.end();
  });
  factor.dims.insert(factor.dims.begin(), at.child);
  factor.tied = at.outer;
  graph::Derived::put_factor(model.graph, at.factor, std::move(factor));
  const auto count = static_cast<std::int64_t>(kinds.count());
  graph::Derived::resize_variable(model.graph, at.child, count);
  for (const DimId v : at.others) {
    graph::Derived::resize_variable(model.graph, v, 1);
    model.evidence.erase(model.graph.dims()[v].name);
  }
  Tensor::Shape shape;
  for (const DimId d : model.graph.factors()[at.factor].dims) shape.push_back(model.graph.dims()[d].size);
  model.factors[at.factor] = Tensor::scalar(0.0).broadcast(shape);
  Long list{.states = owned(std::move(kinds.of)), .slices = {}};
  for (std::size_t k = 0; k < at.outer.size(); ++k) {
    list.slices.emplace(model.graph.dims()[at.outer[k]].name, owned(std::move(kinds.slices[k])));
  }
  const std::string& name = model.graph.dims()[at.child].name;
  model.evidence.erase(name);
  model.lists.insert_or_assign(name, std::move(list));
}

}  // namespace

JoinedRows join_equal_rows(Model observed, const Weights& weights, const std::vector<bool>& learnt, double most_left) {
  JoinedRows result{.model = std::move(observed), .rows = {}};
  Model& model = result.model;
  if (!graph::batch_axes(model.graph).empty()) return result;
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    if (!learnt[f]) continue;
    const auto at = read_in_rows(model, weights, f);
    if (!at) continue;
    const FactorGraph& graph = model.graph;
    std::vector<States> states;
    const auto add = [&](DimId v) {
      states.emplace_back(model.evidence.at(graph.dims()[v].name), graph, graph.variable_plates()[v], *at);
    };
    add(at->child);
    for (const DimId v : at->others) add(v);
    auto kinds = row_kinds_of(states, Existing(model, at->outer), most_left);
    if (!kinds) continue;
    result.rows.push_back(list_of(model, *at, *kinds));
    put_rows(model, *at, std::move(*kinds));
  }
  return result;
}

}  // namespace plated::learn
