// Counts observations, and finds states that could be swapped.
#include "learn/observations.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/sorted_set.hpp"
#include "graph/spell.hpp"
#include "model/likelihoods.hpp"
#include "model/measured.hpp"
#include "tensor/check_entries.hpp"

namespace plated::learn {
namespace {

double slices_of(const Model& model, DimId plate, const Weights& weights) {
  const Dim& dim = model.graph.dims()[plate];
  const auto size = static_cast<double>(dim.size);
  if (const auto weight = weights.find(dim.name); weight != weights.end()) {
    const std::vector<double> values = weight->second.values();
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return weight->second.rank() == 0 ? sum * size : sum;
  }
  const auto lengths = model.lengths.find(dim.name);
  if (lengths == model.lengths.end() || lengths->second.values.empty()) return size;
  const std::vector<std::int64_t>& values = lengths->second.values;
  // On average: the plates around the chain are factors of the count themselves.
  return static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0})) /
         static_cast<double>(values.size());
}

}  // namespace

double count_observations(const Model& model, const Weights& weights, const std::vector<bool>& learnt) {
  std::optional<base::SortedSet> shared;
  const auto share = [&](const std::vector<DimId>& of) {
    shared = shared ? base::intersect(*shared, of) : base::SortedSet(of);
  };
  const std::vector<std::vector<DimId>>& plates_of = model.graph.variable_plates();
  for (const auto& [variable, states] : model.evidence) share(plates_of[*model.graph.find(variable)]);
  for (const auto& [variable, list] : model.lists) share(plates_of[*model.graph.find(variable)]);
  for (const auto& [name, numbers] : model.measurements) {
    share(model.graph.factor_plates(model::factors_measuring(model, name)[0]));
  }
  std::vector<DimId> plates = shared.value_or(base::SortedSet{});
  for (std::size_t f = 0; f < learnt.size(); ++f) {
    if (!learnt[f]) continue;
    for (const DimId d : model.graph.factors()[f].dims) std::erase(plates, d);
  }
  double count = 1;
  for (const DimId plate : plates) count *= slices_of(model, plate, weights);
  return count;
}

double count_cells(const Model& model) {
  double count = 0;
  for (const auto& [variable, states] : model.evidence) count += static_cast<double>(tensor::count_observed(states));
  for (const auto& [name, numbers] : model.measurements) {
    const std::vector<double> seen = model::measured(model, model::factors_measuring(model, name)[0]).numbers;
    count += static_cast<double>(std::count_if(seen.begin(), seen.end(), [](double x) { return !std::isnan(x); }));
  }
  for (const auto& [variable, list] : model.lists) count += static_cast<double>(tensor::count_observed(list.states));
  return count;
}

std::vector<std::string> swappable_states(const Model& model, const std::vector<bool>& learnt) {
  std::vector<std::string> notes;
  for (const std::string& name : variables(model)) {
    const DimId variable = *model.graph.find(name);
    if (model.lists.contains(name) || model.evidence.contains(name) || model.graph.dims()[variable].size < 2) continue;
    bool held = false;
    bool all_learnt = true;
    for (std::size_t f = 0; f < learnt.size(); ++f) {
      const std::vector<DimId> of = model.graph.factor_variables(f);
      if (!std::binary_search(of.begin(), of.end(), variable)) continue;
      held = true;
      all_learnt = all_learnt && learnt[f];
    }
    if (!held || !all_learnt) continue;
    notes.push_back("the states of " + graph::quoted(label(model, name)) +
                    " can be swapped: nothing but the start says which is which");
  }
  return notes;
}

}  // namespace plated::learn
