// Every question about a posterior, by brute force: all joint assignments of the unrolled graph, in long double.
//
// As plain as oracle.hpp. Logarithms become weights first (long double reaches e^±11000), so that the log
// semiring is the real one here; the selective semirings stay what they are.
#pragma once

#include <map>
#include <string>

#include "oracle/world.hpp"
#include "plated/integers.hpp"

namespace plated::oracle {

using Numbers = std::vector<long double>;

class Posterior {
 public:
  Posterior(const FactorGraph& graph, const std::vector<Tensor>& operands, Semiring semiring)
      : graph_(graph), ring_(semiring == Semiring::log ? Semiring::real : semiring) {
    for (const Tensor& operand : operands) {
      const std::vector<double> values = operand.values();
      operands_.emplace_back(values.begin(), values.end());
      for (long double& x : operands_.back()) x = semiring == Semiring::log ? std::exp(x) : x;
    }
    worlds_ = worlds({});
  }

  /// Axes of an answer about variables: batch dims, their plates, their states, each in declaration order.
  [[nodiscard]] std::vector<DimId> axes(const std::vector<DimId>& variables) const {
    std::vector<DimId> result, plates;
    const auto all = graph_.variable_plates();
    for (DimId d = 0; d < graph_.dims().size(); ++d) {
      if (graph_.dims()[d].kind == DimKind::batch) result.push_back(d);
    }
    for (const DimId v : variables) plates.insert(plates.end(), all[v].begin(), all[v].end());
    for (std::vector<DimId> sorted : {plates, variables}) {
      std::sort(sorted.begin(), sorted.end());
      result.insert(result.end(), sorted.begin(), std::unique(sorted.begin(), sorted.end()));
    }
    return result;
  }
  [[nodiscard]] Tensor::Shape shape(const std::vector<DimId>& dims) const {
    Tensor::Shape result;
    for (const DimId d : dims) result.push_back(graph_.dims()[d].size);
    return result;
  }

  /// For each entry of a table with the axes of these variables, the sum (or maximum) of all weights that agree with
  /// it: the partition function of each batch without variables, max-marginals in a selective semiring.
  [[nodiscard]] Numbers table(const std::vector<DimId>& variables) { return table(variables, worlds_); }

  /// The same divided by Z.
  [[nodiscard]] Numbers marginal(const std::vector<DimId>& variables) {
    Numbers result = table(variables);
    const Numbers total = table({});
    for (std::size_t k = 0; k < result.size(); ++k) result[k] /= total[k / (result.size() / total.size())];
    return result;
  }

  /// A factor's posterior in its operand's shape: the sum over the slices and batches that its operand stands for.
  [[nodiscard]] Numbers factor(std::size_t f) const {
    Numbers result(operands_[f].size(), 0);
    each_assignment([&](const World& world, const States& states, long double p, std::size_t) {
      for (const Site& site : world.factors) {
        if (site.owner == f) result[index_of(site, states)] += p;
      }
    });
    return result;
  }

  /// In nats, one for each batch.
  [[nodiscard]] Numbers entropy() const {
    Numbers result(worlds_.size(), 0);
    each_assignment([&](const World&, const States&, long double p, std::size_t batch) {
      if (p > 0) result[batch] -= p * std::log(p);
    });
    return result;
  }

  /// Of the sum over factors and slices of a statistic (row-major, empty for none), one for each batch.
  [[nodiscard]] Numbers expectation(const std::vector<Numbers>& statistics) const {
    Numbers result(worlds_.size(), 0);
    each_assignment([&](const World& world, const States& states, long double p, std::size_t batch) {
      for (const Site& site : world.factors) {
        if (!statistics[site.owner].empty()) result[batch] += p * statistics[site.owner][index_of(site, states)];
      }
    });
    return result;
  }

  /// Z without each slice of a plate; axes: batch dims, the plate.
  [[nodiscard]] Numbers without_each_slice(DimId plate) {
    const std::int64_t slices = graph_.dims()[plate].size;
    Numbers result(worlds_.size() * static_cast<std::size_t>(slices));
    for (std::int64_t i = 0; i < slices; ++i) {
      std::vector<World> rest = worlds(Without{plate, i});
      const Numbers totals = table({}, rest);
      for (std::size_t n = 0; n < totals.size(); ++n) {
        result[n * static_cast<std::size_t>(slices) + static_cast<std::size_t>(i)] = totals[n];
      }
    }
    return result;
  }

  /// Probabilities of a batch's joint assignments, in the order of cell().
  [[nodiscard]] Numbers cells(std::size_t batch) const {
    Numbers result;
    each_assignment([&](const World&, const States&, long double p, std::size_t n) {
      if (n == batch) result.push_back(p);
    });
    return result;
  }

  /// Of an assignment as the library gives it: `block` counts its leading axes up to the batch's own.
  [[nodiscard]] States states(std::size_t block, const std::map<std::string, Integers>& assignment) const {
    States result;
    const auto plates = graph_.variable_plates();
    for (DimId v = 0; v < graph_.dims().size(); ++v) {
      if (graph_.dims()[v].kind != DimKind::variable) continue;
      std::size_t slices = 1;
      for (const DimId b : plates[v]) slices *= static_cast<std::size_t>(graph_.dims()[b].size);
      const std::vector<std::int64_t>& values = assignment.at(graph_.dims()[v].name).values;
      for (std::size_t k = 0; k < slices; ++k) result.push_back(values.at(block * slices + k));
    }
    return result;
  }
  [[nodiscard]] std::size_t cell(const States& states) const {
    std::int64_t index = 0;
    for (std::size_t k = 0; k < states.size(); ++k) index = index * worlds_[0].domains[k] + states[k];
    return static_cast<std::size_t>(index);
  }
  [[nodiscard]] long double weight(std::size_t batch, const States& states) const {
    return weight(worlds_[batch], states);
  }
  [[nodiscard]] std::size_t batches() const { return worlds_.size(); }

 private:
  std::vector<World> worlds(std::optional<Without> without) const {
    std::vector<World> result;
    std::vector<std::int64_t> at(graph_.dims().size(), 0);
    for_each_index(graph_, axes({}), at, [&] { result.emplace_back(graph_, at, without); });
    return result;
  }

  [[nodiscard]] Numbers table(const std::vector<DimId>& variables, std::vector<World>& worlds) const {
    const std::vector<DimId> dims = axes(variables);
    std::vector<DimId> plates = dims;
    std::erase_if(plates, [&](DimId d) { return graph_.dims()[d].kind != DimKind::plate; });
    std::size_t entries = 1;
    for (const std::int64_t extent : shape(dims)) entries *= static_cast<std::size_t>(extent);
    Numbers result(entries, zero(ring_));
    for (World& world : worlds) {
      const std::vector<Site> sites = entries > 0 ? world.sites(0, dims, plates) : std::vector<Site>{};
      world.for_each_assignment([&](const States& states) {
        const long double w = weight(world, states);
        for (const Site& site : sites) {
          long double& entry = result[index_of(site, states)];
          entry = add(ring_, entry, w);
        }
      });
    }
    return result;
  }

  long double weight(const World& world, const States& states) const {
    long double product = one(ring_);
    for (const Site& site : world.factors) {
      product = multiply(ring_, product, operands_[site.owner][index_of(site, states)]);
    }
    return product;
  }

  /// Calls `visit` with each assignment of each batch and its probability.
  template <class Visit>
  void each_assignment(Visit visit) const {
    for (std::size_t n = 0; n < worlds_.size(); ++n) {
      long double total = 0;
      worlds_[n].for_each_assignment([&](const States& s) { total += weight(worlds_[n], s); });
      worlds_[n].for_each_assignment([&](const States& s) { visit(worlds_[n], s, weight(worlds_[n], s) / total, n); });
    }
  }

  const FactorGraph& graph_;
  Semiring ring_;
  std::vector<Numbers> operands_;
  std::vector<World> worlds_;
};

}  // namespace plated::oracle
