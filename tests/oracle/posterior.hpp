// Answers every question about a posterior by brute force: all joint assignments of the unrolled graph, in long double.
//
// As simple as oracle.hpp. Logarithms become weights first (long double reaches e^±11000), so that the log
// semiring is the real one here; the selective semirings stay what they are.
#pragma once

#include <limits>
#include <map>
#include <stdexcept>
#include <string>

#include "oracle/world.hpp"
#include "plated/integers.hpp"

namespace plated::oracle {

using Numbers = std::vector<long double>;

class Posterior {
 public:
  /// Of numbers that leave the range of long double, each slice of an operand is divided by its largest entry
  /// (`levelled`): posteriors stay what they are, and log_totals() adds the logarithms.
  Posterior(const FactorGraph& graph, const std::vector<Tensor>& operands, Semiring semiring, Lengths lengths = {},
            bool levelled = false)
      : graph_(graph),
        ring_(semiring == Semiring::log ? Semiring::real : semiring),
        lengths_(std::move(lengths)),
        slices_(graph, lengths_) {
    for (const Tensor& operand : operands) {
      const std::vector<double> values = operand.values();
      operands_.emplace_back(values.begin(), values.end());
      levels_.emplace_back(values.size(), 0);
      if (levelled) level(operands_.size() - 1, semiring);
      for (long double& x : operands_.back()) x = semiring == Semiring::log ? std::exp(x) : x;
    }
    worlds_ = worlds({});
  }

  /// Axes of an answer about variables: batch dims, their plates, chains and states, each in declaration order.
  [[nodiscard]] std::vector<DimId> axes(const std::vector<DimId>& variables) const {
    std::vector<DimId> result = slices_.batch(), plates;
    for (const DimId v : variables) {
      for (const DimId d : slices_.plates(v)) plates.push_back(d);
    }
    for (const DimId d : slices_.sliced(plates)) result.push_back(d);
    for (const DimId v : slices_.of_kind(variables, DimKind::variable)) result.push_back(v);
    return result;
  }
  [[nodiscard]] Tensor::Shape shape(const std::vector<DimId>& dims) const {
    Tensor::Shape result;
    for (const DimId d : dims) result.push_back(graph_.dims()[d].size);
    return result;
  }

  /// For each entry of a table with the axes of these variables, the sum (or maximum) of all weights that agree with
  /// it: the partition function of each batch without variables, max-marginals in a selective semiring. Zero in slices
  /// that do not exist.
  [[nodiscard]] Numbers table(const std::vector<DimId>& variables) { return table(variables, worlds_); }

  /// log Z of each batch.
  [[nodiscard]] Numbers log_totals() {
    Numbers result = table({});
    for (std::size_t n = 0; n < result.size(); ++n) {
      result[n] = std::log(result[n]);
      for (const Site& site : worlds_[n].factors) result[n] += levels_[site.owner][static_cast<std::size_t>(site.base)];
    }
    return result;
  }

  /// The same divided by Z.
  [[nodiscard]] Numbers marginal(const std::vector<DimId>& variables) { return marginal(variables, worlds_); }

  /// The marginal of a variable in a chain where the chain's later slices have no factors.
  [[nodiscard]] Numbers filtered(DimId v, DimId chain) {
    Numbers result = marginal({v});
    for_each_slice_of(chain, [&](const std::vector<DimId>& around, const Index& here) {
      std::vector<World> seen = worlds({}, [&](std::size_t f, const Index& at) {
        return contains(graph_.factor_plates(f), chain) && agree(around, at, here) && at[chain] > here[chain];
      });
      const Numbers p = marginal({v}, seen);
      std::size_t k = 0;
      Index at(here.size(), 0);
      for_each_index(graph_, axes({v}), at, [&] {
        if (agree(around, at, here) && at[chain] == here[chain]) result[k] = p[k];
        ++k;
      });
    });
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

  /// How many slices and batches each entry of a factor's operand stands for.
  [[nodiscard]] Numbers shared_by(std::size_t f) const {
    Numbers result(operands_[f].size(), 0);
    for (const World& world : worlds_) {
      for (const Site& site : world.factors) {
        if (site.owner != f) continue;
        // All entries of the slice, off a diagonal where two ends are one state, too: they have probability zero.
        std::vector<std::int64_t> entries{site.base};
        for (const auto& [variable, stride] : site.variables) {
          std::vector<std::int64_t> next;
          for (const std::int64_t entry : entries) {
            for (std::int64_t s = 0; s < world.domains[variable]; ++s) next.push_back(entry + s * stride);
          }
          entries = std::move(next);
        }
        for (const std::int64_t entry : entries) result[static_cast<std::size_t>(entry)] += 1;
      }
    }
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

  /// Z where some factors are left out of one slice of a chain; axes: batch dims, what is around the chain, the chain.
  [[nodiscard]] Numbers without_factors(DimId chain, const std::vector<std::size_t>& factors) {
    std::vector<Numbers> slices;
    for_each_slice_of(chain, [&](const std::vector<DimId>& around, const Index& here) {
      std::vector<World> rest = worlds({}, [&](std::size_t f, const Index& at) {
        return std::count(factors.begin(), factors.end(), f) > 0 && agree(around, at, here) && at[chain] == here[chain];
      });
      slices.push_back(table({}, rest));
    });
    Numbers result;
    for (std::size_t n = 0; n < worlds_.size(); ++n) {
      for (const Numbers& totals : slices) result.push_back(totals[n]);
    }
    return result;
  }

  /// Of an assignment as the library gives it: `block` counts its leading axes up to the batch's own. Throws where it
  /// tells two things of one state of a chain, or anything but −1 of a slice that does not exist; −1 is what it cannot
  /// tell: the first states of an empty chain.
  [[nodiscard]] States states(std::size_t block, const std::map<std::string, Integers>& assignment) const {
    const World& world = worlds_[block % worlds_.size()];
    States result(world.domains.size(), -1);
    for (DimId v = 0; v < graph_.dims().size(); ++v) {
      if (graph_.dims()[v].kind != DimKind::variable || graph_.dims()[v].end != End::none) continue;
      std::vector<std::int64_t> copies;
      world.for_each_place(v, [&](std::int64_t copy) { copies.push_back(copy); });
      const std::vector<std::int64_t>& values = assignment.at(graph_.dims()[v].name).values;
      for (std::size_t k = 0; k < copies.size(); ++k) {
        const std::int64_t state = values.at(block * copies.size() + k);
        std::int64_t* known = copies[k] < 0 ? nullptr : &result[static_cast<std::size_t>(copies[k])];
        if (known == nullptr ? state != -1 : state < 0 || state >= graph_.dims()[v].size) {
          throw std::logic_error(graph_.dims()[v].name + " has state " + std::to_string(state));
        }
        if (known == nullptr) continue;
        if (*known != -1 && *known != state) throw std::logic_error(graph_.dims()[v].name + " is not its neighbour's");
        *known = state;
      }
    }
    return result;
  }

  /// Probabilities of a batch's joint assignments, in the order of cell(); as states() tells them.
  [[nodiscard]] Numbers cells(std::size_t batch) const {
    const States told = told_of(batch);
    Numbers result;
    each_assignment([&](const World&, const States& states, long double p, std::size_t n) {
      if (n != batch) return;
      result.resize(std::max(result.size(), cell(told, states, batch) + 1), 0);
      result[cell(told, states, batch)] += p;
    });
    return result;
  }
  [[nodiscard]] std::size_t cell(const States& states, std::size_t batch = 0) const {
    return cell(told_of(batch), states, batch);
  }

  /// The weight of an assignment: the best one, where it leaves states open.
  [[nodiscard]] long double weight(std::size_t batch, const States& states) const {
    if (std::count(states.begin(), states.end(), -1) == 0) return weight(worlds_[batch], states);
    long double best = zero(ring_);
    worlds_[batch].for_each_assignment([&](const States& all) {
      for (std::size_t k = 0; k < all.size(); ++k) {
        if (states[k] != -1 && states[k] != all[k]) return;
      }
      best = add(ring_, best, weight(worlds_[batch], all));
    });
    return best;
  }
  [[nodiscard]] std::size_t batches() const { return worlds_.size(); }

 private:
  /// Divides each slice of an operand by its largest entry, whose logarithm goes to the slice's first place.
  void level(std::size_t f, Semiring semiring) {
    const std::vector<DimId>& dims = graph_.factors()[f].dims;
    const Tensor::Shape strides = Tensor::row_major(shape(dims));
    std::map<std::size_t, long double> largest;
    const auto first_place = [&](std::size_t k) {
      std::size_t place = 0;
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        const Dim& dim = graph_.dims()[dims[axis]];
        const std::size_t index = k / static_cast<std::size_t>(strides[axis]) % static_cast<std::size_t>(dim.size);
        if (dim.kind != DimKind::variable) place += index * static_cast<std::size_t>(strides[axis]);
      }
      return place;
    };
    Numbers& entries = operands_[f];
    const bool log = semiring == Semiring::log;
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const auto [known, is_new] = largest.try_emplace(first_place(k), entries[k]);
      if (!is_new) known->second = std::max(known->second, entries[k]);
    }
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const long double most = largest.at(first_place(k));
      if (most == (log ? -std::numeric_limits<long double>::infinity() : 0.0L)) continue;
      entries[k] = log ? entries[k] - most : entries[k] / most;
    }
    for (const auto& [place, most] : largest) {
      const long double level = log ? most : std::log(most);
      if (std::isfinite(level)) levels_[f][place] = level;
    }
  }

  std::vector<World> worlds(std::optional<Without> without, const LeaveOut& leave_out = {}) const {
    std::vector<World> result;
    Index at(graph_.dims().size(), 0);
    for_each_index(graph_, axes({}), at, [&] { result.emplace_back(graph_, at, without, lengths_, leave_out); });
    return result;
  }

  static bool agree(const std::vector<DimId>& dims, const Index& a, const Index& b) {
    return std::all_of(dims.begin(), dims.end(), [&](DimId d) { return a[d] == b[d]; });
  }
  /// Calls `visit(around, at)` in each slice of a chain, existing or not, and of what is around it.
  template <class Visit>
  void for_each_slice_of(DimId chain, Visit visit) const {
    const std::vector<DimId> around = slices_.around(chain);
    std::vector<DimId> dims = around;
    dims.push_back(chain);
    Index at(graph_.dims().size(), 0);
    for_each_index(graph_, dims, at, [&] { visit(around, at); });
  }

  /// 0 for each state that an assignment tells of, −1 for the others.
  [[nodiscard]] States told_of(std::size_t batch) const {
    States result(worlds_[batch].domains.size(), -1);
    for (DimId v = 0; v < graph_.dims().size(); ++v) {
      if (graph_.dims()[v].kind != DimKind::variable || graph_.dims()[v].end != End::none) continue;
      worlds_[batch].for_each_place(v, [&](std::int64_t copy) {
        if (copy >= 0) result[static_cast<std::size_t>(copy)] = 0;
      });
    }
    return result;
  }
  [[nodiscard]] std::size_t cell(const States& told, const States& states, std::size_t batch) const {
    std::int64_t index = 0;
    for (std::size_t k = 0; k < states.size(); ++k) {
      if (told[k] == 0) index = index * worlds_[batch].domains[k] + states[k];
    }
    return static_cast<std::size_t>(index);
  }

  [[nodiscard]] Numbers marginal(const std::vector<DimId>& variables, std::vector<World>& worlds) const {
    Numbers result = table(variables, worlds);
    const Numbers total = table({}, worlds);
    for (std::size_t k = 0; k < result.size(); ++k) result[k] /= total[k / (result.size() / total.size())];
    return result;
  }

  [[nodiscard]] Numbers table(const std::vector<DimId>& variables, std::vector<World>& worlds) const {
    const std::vector<DimId> dims = axes(variables);
    std::size_t entries = 1;
    for (const std::int64_t extent : shape(dims)) entries *= static_cast<std::size_t>(extent);
    Numbers result(entries, zero(ring_));
    for (World& world : worlds) {
      const std::vector<Site> sites = entries > 0 ? world.sites(0, dims, slices_.sliced(dims)) : std::vector<Site>{};
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
  Lengths lengths_;
  Slices slices_;
  std::vector<Numbers> operands_;
  std::vector<Numbers> levels_;  // logarithms that were taken out, at the first place of each slice
  std::vector<World> worlds_;
};

}  // namespace plated::oracle
