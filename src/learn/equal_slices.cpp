// Groups slices by a hash of their data, and compares those of one group.
#include "learn/equal_slices.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/hash.hpp"
#include "model/likelihoods.hpp"
#include "tensor/taken.hpp"
#include "tensor/visit_integers.hpp"

namespace plated::learn {
namespace {

/// The states of a variable as (outer, slice, inner).
struct StatesBySlice {
  IntegerView* states = nullptr;
  std::size_t axis = 0;  // of the plate
  std::size_t outer = 1, count = 1, inner = 1;

  StatesBySlice(IntegerView& data, std::size_t at) : states(&data), axis(at) {
    if (!data.is_row_major()) data = data.copy();
    for (std::size_t a = 0; a < data.shape().size(); ++a) {
      (a < axis ? outer : a == axis ? count : inner) *= static_cast<std::size_t>(data.shape()[a]);
    }
  }
  void add_to(base::Hash& hash, std::size_t slice) const {
    tensor::visit_integers(*states, [&](const auto* entries) {
      for (std::size_t o = 0; o < outer; ++o) {
        const auto* const from = entries + (o * count + slice) * inner;
        for (std::size_t k = 0; k < inner; ++k) hash.add(from[k]);
      }
    });
  }
  [[nodiscard]] bool equal(std::size_t a, std::size_t b) const {
    return tensor::visit_integers(*states, [&](const auto* entries) {
      for (std::size_t o = 0; o < outer; ++o) {
        const auto* const from = entries + (o * count + a) * inner;
        if (!std::equal(from, from + inner, entries + (o * count + b) * inner)) return false;
      }
      return true;
    });
  }
};

/// The first slice of each kind, in order, and for each slice its kind.
struct Kinds {
  std::vector<std::int64_t> first;
  std::vector<std::size_t> of;
};

/// Stops where more than `most` kinds are found: `of` is then too short.
Kinds kinds_of(const std::vector<StatesBySlice>& data, std::size_t count, std::size_t most) {
  Kinds kinds;
  std::unordered_multimap<std::size_t, std::size_t> known;  // kinds by their hash
  for (std::size_t slice = 0; slice < count && kinds.first.size() <= most; ++slice) {
    base::Hash hash;
    for (const StatesBySlice& states : data) states.add_to(hash, slice);
    const auto [begin, end] = known.equal_range(hash.value());
    const auto found = std::find_if(begin, end, [&](const auto& kind) {
      return std::all_of(data.begin(), data.end(), [&](const StatesBySlice& states) {
        return states.equal(static_cast<std::size_t>(kinds.first[kind.second]), slice);
      });
    });
    if (found != end) {
      kinds.of.push_back(found->second);
      continue;
    }
    known.emplace(hash.value(), kinds.first.size());
    kinds.of.push_back(kinds.first.size());
    kinds.first.push_back(static_cast<std::int64_t>(slice));
  }
  return kinds;
}

/// Whether only data can tell the slices of a plate apart.
bool is_plain(const Model& model, DimId plate) {
  const Dim& dim = model.graph.dims()[plate];
  if (dim.kind != DimKind::plate || dim.size < 2) return false;
  const auto holds = [&](const std::vector<DimId>& dims) {
    return std::find(dims.begin(), dims.end(), plate) != dims.end();
  };
  const auto& factors = model.graph.factors();
  if (std::any_of(factors.begin(), factors.end(), [&](const Factor& factor) { return holds(factor.dims); }))
    return false;
  for (const auto& [name, numbers] : model.measurements) {
    if (holds(model.graph.factor_plates(model::factors_measuring(model, name)[0]))) return false;
  }
  for (const auto& [name, list] : model.lists) {
    if (list.slices.contains(dim.name)) return false;
  }
  // Lengths of what lies inside the plate, and its own.
  return std::none_of(model.lengths.begin(), model.lengths.end(), [&](const auto& entry) {
    const DimId ragged = *model.graph.find(entry.first);
    if (ragged == plate) return true;
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const std::vector<DimId> plates = model.graph.factor_plates(f);
      if (std::binary_search(plates.begin(), plates.end(), ragged) &&
          std::binary_search(plates.begin(), plates.end(), plate))
        return true;
    }
    return false;
  });
}

void join_slices(WeightedModel& weighted, DimId plate) {
  Model& model = weighted.model;
  const Dim dim = model.graph.dims()[plate];
  std::vector<StatesBySlice> data;
  for (auto& [name, states] : model.evidence) {
    const std::vector<DimId>& plates = model.graph.variable_plates()[*model.graph.find(name)];
    const auto found = std::find(plates.begin(), plates.end(), plate);
    if (found == plates.end()) continue;
    data.emplace_back(states, states.shape().size() - plates.size() + static_cast<std::size_t>(found - plates.begin()));
  }
  const auto count = static_cast<std::size_t>(dim.size);
  const Kinds kinds = kinds_of(data, count, count / 2);
  if (kinds.first.size() > count / 2) return;
  std::vector<double> each(count, 1.0);
  if (const auto given = weighted.weights.find(dim.name); given != weighted.weights.end()) {
    const std::vector<double> values = given->second.values();
    for (std::size_t k = 0; k < count; ++k) each[k] = values[given->second.rank() == 0 ? 0 : k];
  }
  std::vector<double> sums(kinds.first.size(), 0.0);
  for (std::size_t k = 0; k < count; ++k) sums[kinds.of[k]] += each[k];
  // Sums that overflow would be refused as weights that nobody wrote.
  if (!std::all_of(sums.begin(), sums.end(), [](double sum) { return std::isfinite(sum); })) return;
  for (const StatesBySlice& of : data) *of.states = tensor::taken(*of.states, of.axis, kinds.first);
  const auto left = static_cast<std::int64_t>(sums.size());
  model.graph = model.graph.resized(dim.name, left);
  weighted.weights.insert_or_assign(dim.name, Tensor::of(Tensor::Shape{left}, sums));
}

/// Whether weights fit their plates: a run refuses what does not.
bool fit_plates(const WeightedModel& weighted) {
  return std::all_of(weighted.weights.begin(), weighted.weights.end(), [&](const auto& entry) {
    const auto plate = weighted.model.graph.find(entry.first);
    if (!plate || entry.second.data() == nullptr) return false;
    const std::vector<double> values = entry.second.values();
    const bool good = std::all_of(values.begin(), values.end(), [](double w) { return std::isfinite(w) && w >= 0; });
    return good && (entry.second.rank() == 0 ||
                    entry.second.shape() == Tensor::Shape{weighted.model.graph.dims()[*plate].size});
  });
}

}  // namespace

WeightedModel join_equal_slices(Model model, Weights weights) {
  WeightedModel result{.model = std::move(model), .weights = std::move(weights)};
  if (!fit_plates(result)) return result;
  for (DimId plate = 0; plate < result.model.graph.dims().size(); ++plate) {
    if (is_plain(result.model, plate)) join_slices(result, plate);
  }
  return result;
}

}  // namespace plated::learn
