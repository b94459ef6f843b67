// EM by enumeration of all assignments of the unrolled graph, in long double: what fit() is held against.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "graph/barren.hpp"
#include "oracle/world.hpp"
#include "plated/model.hpp"

namespace plated::test {

inline std::optional<std::size_t> axis_of_child(const Model& model, std::size_t f) {
  if (model.children[f].empty()) return std::nullopt;
  const std::vector<DimId>& dims = model.graph.factors()[f].dims;
  const DimId child = *model.graph.find(model.children[f]);
  return static_cast<std::size_t>(std::find(dims.begin(), dims.end(), child) - dims.begin());
}

/// Calls visit(entries of the row) for each row of a table.
template <class Visit>
void for_each_row(const Tensor::Shape& shape, std::size_t axis, const Visit& visit) {
  const Tensor::Shape strides = Tensor::row_major(shape);
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  for (std::int64_t first = 0; first < elements; ++first) {
    if (first / strides[axis] % shape[axis] != 0) continue;
    std::vector<std::size_t> row;
    for (std::int64_t k = 0; k < shape[axis]; ++k) row.push_back(static_cast<std::size_t>(first + k * strides[axis]));
    visit(row);
  }
}

/// EM in long double over all assignments. Evidence is a factor of ones and zeros.
class NaiveEm {
 public:
  NaiveEm(const Model& model, const Evidence& data, const std::vector<std::vector<std::size_t>>& groups,
          double pseudo_count)
      : model_(model), groups_(groups), graph_(model.graph.asking({{}})) {
    for (std::size_t f = 0; f < model.factors.size(); ++f) {
      std::vector<long double>& table = tables_.emplace_back();
      for (const double x : model.factors[f].values())
        table.push_back(model.space == Space::log ? std::exp(static_cast<long double>(x)) : x);
    }
    for (const auto& group : groups) {
      // The first has the numbers.
      for (const std::size_t f : group) tables_[f] = tables_[group[0]];
      std::vector<long double> prior(tables_[group[0]].size(), pseudo_count);
      for (const std::size_t f : group) {
        const Tensor& own = model.learning.at(model.graph.factors()[f].name).prior;
        if (own.data() == nullptr) continue;
        prior.assign(prior.size(), own.item());
        break;
      }
      for (std::size_t k = 0; k < prior.size(); ++k) prior[k] = tables_[group[0]][k] > 0 ? prior[k] : 0;
      priors_.push_back(std::move(prior));
    }
    add_evidence(data);
    find_counting_nothing(data);
  }

  /// ln L, and the counts of each factor.
  long double count() {
    counts_.clear();
    for (const auto& table : tables_) counts_.emplace_back(table.size(), 0);
    long double total = 0;
    oracle::Index at(graph_.dims().size(), 0);
    const std::vector<DimId> batch = oracle::Slices(graph_, model_.lengths).batch();
    oracle::for_each_index(graph_, batch, at, [&] { total += count_batch(at); });
    return total;
  }

  void maximise() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      std::vector<long double> sum = priors_[g];
      for (const std::size_t f : groups_[g]) {
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += counts_[f][k];
      }
      std::vector<long double> fitted = tables_[groups_[g][0]];
      for_each_row(model_.factors[groups_[g][0]].shape(), *axis_of_child(model_, groups_[g][0]),
                   [&](const std::vector<std::size_t>& row) {
                     long double all = 0;
                     for (const std::size_t k : row) all += sum[k];
                     for (const std::size_t k : row) fitted[k] = all > 0 ? sum[k] / all : fitted[k];
                   });
      for (const std::size_t f : groups_[g]) tables_[f] = fitted;
    }
  }

  [[nodiscard]] long double log_prior() const {
    long double sum = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (std::size_t k = 0; k < priors_[g].size(); ++k) {
        if (priors_[g][k] > 0) sum += priors_[g][k] * std::log(tables_[groups_[g][0]][k]);
      }
    }
    return sum;
  }

  [[nodiscard]] const std::vector<std::vector<long double>>& tables() const { return tables_; }
  [[nodiscard]] const std::vector<std::vector<long double>>& counts() const { return counts_; }

 private:
  void add_evidence(const Evidence& data) {
    for (const auto& [name, states] : data) {
      const DimId v = *model_.graph.find(name);
      std::vector<DimId> axes = model_.graph.variable_plates()[v];
      std::vector<DimId> batch = oracle::Slices(model_.graph, {}).batch();
      if (states.shape().size() > axes.size()) axes.insert(axes.begin(), batch.begin(), batch.end());
      axes.push_back(v);
      std::vector<std::string> names;
      for (const DimId d : axes) names.push_back(model_.graph.dims()[d].name);
      graph_.factor("", names);
      std::vector<long double>& indicator = tables_.emplace_back();
      for (const std::int64_t state : states) {
        for (std::int64_t s = 0; s < model_.graph.dims()[v].size; ++s) indicator.push_back(state < 0 || state == s);
      }
    }
  }

  /// Variables that only their own distribution holds: where they are not observed, nothing is counted.
  void find_counting_nothing(const Evidence& data) {
    const std::vector<bool> along = graph::named_along_chains(model_.graph);
    for (const std::string& name : variables(model_)) {
      const DimId v = *model_.graph.find(name);
      std::vector<std::size_t> holders;
      for (std::size_t f = 0; f < model_.factors.size(); ++f) {
        for (const DimId d : model_.graph.factors()[f].dims) {
          if (d == v) holders.push_back(f);
        }
      }
      if (holders.size() != 1 || model_.children[holders[0]] != name || (!along.empty() && along[v])) continue;
      if (model_.graph.factor_plates(holders[0]) != model_.graph.variable_plates()[v]) continue;
      const auto seen = data.find(name);
      unseen_.emplace(holders[0], seen == data.end() ? nullptr : &seen->second);
    }
  }

  /// Whether a factor's copy is that of a missing cell; `at` is the copy's slice.
  bool counts_nothing(std::size_t f, const oracle::Index& at) const {
    const auto found = unseen_.find(f);
    if (found == unseen_.end()) return false;
    if (found->second == nullptr) return true;
    std::vector<DimId> axes = model_.graph.variable_plates()[*model_.graph.find(model_.children[f])];
    const std::vector<DimId> batch = oracle::Slices(model_.graph, {}).batch();
    if (found->second->shape().size() > axes.size()) axes.insert(axes.begin(), batch.begin(), batch.end());
    std::vector<std::int64_t> index;
    for (const DimId d : axes) index.push_back(at[d]);
    return found->second->at(index) < 0;
  }

  long double count_batch(const oracle::Index& at) {
    // Sites in the order of the world's, with their slices.
    std::vector<bool> nothing;
    const oracle::Slices slices(graph_, model_.lengths);
    for (std::size_t f = 0; f < graph_.factors().size(); ++f) {
      oracle::Index slice = at;
      slices.for_each_slice(slices.sliced(graph_.factor_plates(f)), slice,
                            [&] { nothing.push_back(f < model_.factors.size() && counts_nothing(f, slice)); });
    }
    const oracle::World world(graph_, at, std::nullopt, model_.lengths);
    std::vector<std::vector<long double>> sums;
    for (const auto& table : tables_) sums.emplace_back(table.size(), 0);
    long double total = 0;
    world.for_each_assignment([&](const oracle::States& states) {
      long double weight = 1;
      for (const oracle::Site& site : world.factors) weight *= tables_[site.owner][oracle::index_of(site, states)];
      if (weight == 0) return;
      total += weight;
      for (std::size_t k = 0; k < world.factors.size(); ++k) {
        const oracle::Site& site = world.factors[k];
        if (!nothing[k]) sums[site.owner][oracle::index_of(site, states)] += weight;
      }
    });
    for (std::size_t f = 0; f < counts_.size() && total > 0; ++f) {
      for (std::size_t k = 0; k < counts_[f].size(); ++k) counts_[f][k] += sums[f][k] / total;
    }
    return std::log(total);
  }

  const Model& model_;
  const std::vector<std::vector<std::size_t>>& groups_;
  FactorGraph graph_;  // with a factor for the evidence of each variable
  std::vector<std::vector<long double>> tables_;
  std::vector<std::vector<long double>> priors_;  // [group]
  std::vector<std::vector<long double>> counts_;
  std::map<std::size_t, const IntegerView*> unseen_;  // factors whose missing cells count nothing; null: all of them
};

}  // namespace plated::test
