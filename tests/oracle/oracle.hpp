// The meaning of a plated factor graph, by brute force: every joint assignment of every unrolled variable, one by one.
//
// Nothing here is clever on purpose. It reads a graph's dims, factors, outputs and P(v), makes one copy of a variable
// for each slice of its plates (slices.hpp says which, with chains) and one copy of a factor for each slice of its own,
// and adds up in long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "oracle/algebra.hpp"
#include "oracle/slices.hpp"
#include "plated/factor_graph.hpp"
#include "plated/semiring.hpp"
#include "plated/tensor.hpp"

namespace plated::oracle {

/// One entry of an output. `magnitude` is what rounding errors are measured against: the same sum over the absolute
/// values of its terms (of the terms' summands, where products are sums).
struct Entry {
  long double value = 0;
  long double magnitude = 0;
};

/// One copy of a factor, or one slice of an output: where it starts, and how each of its unrolled variables moves it.
struct Site {
  std::size_t owner = 0;
  std::int64_t base = 0;
  std::vector<std::pair<std::size_t, std::int64_t>> variables;  // unrolled variable, stride
};

class Unroller {
 public:
  Unroller(const FactorGraph& graph, const std::vector<Tensor>& operands, Semiring semiring, const Lengths& lengths)
      : graph_(graph), semiring_(semiring), slices_(graph, lengths), at_(graph.dims().size(), 0) {
    for (const Tensor& operand : operands) {
      operands_.push_back(operand.values());
      operand_strides_.push_back(Tensor::row_major(operand.shape()));
    }
    for (const Output& output : graph.outputs()) {
      Tensor::Shape shape;
      std::int64_t elements = 1;
      for (const DimId d : output.dims) shape.push_back(graph.dims()[d].size);
      for (const std::int64_t extent : shape) elements *= extent;
      output_strides_.push_back(Tensor::row_major(shape));
      results_.emplace_back(static_cast<std::size_t>(elements), Entry{zero(semiring), 0});
    }
  }

  std::vector<std::vector<Entry>> run() {
    for_each_index(graph_, slices_.batch(), at_, [&] { run_one_batch(); });
    return std::move(results_);
  }

 private:
  /// A site for each slice of the plates and chains among `lives_in`; axes that are not variables are fixed by `at_`.
  void add_sites(std::vector<Site>& sites, std::size_t owner, const std::vector<DimId>& axes,
                 const std::vector<std::int64_t>& strides, const std::vector<DimId>& lives_in) {
    slices_.for_each_slice(slices_.sliced(lives_in), at_, [&] {
      Site site{.owner = owner, .base = 0, .variables = {}};
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        if (graph_.dims()[axes[axis]].kind == DimKind::variable) {
          site.variables.emplace_back(copy_.at(slices_.key(axes[axis], at_)), strides[axis]);
        } else {
          site.base += at_[axes[axis]] * strides[axis];
        }
      }
      sites.push_back(std::move(site));
    });
  }

  static std::size_t index_of(const Site& site, const std::vector<std::int64_t>& states) {
    std::int64_t index = site.base;
    for (const auto& [variable, stride] : site.variables) index += states[variable] * stride;
    return static_cast<std::size_t>(index);
  }

  void run_one_batch() {
    copy_.clear();
    domains_.clear();
    for (DimId v = 0; v < graph_.dims().size(); ++v) {
      slices_.for_each_copy(v, at_, [&](const Index& key, std::int64_t domain) {
        copy_.emplace(key, domains_.size());
        domains_.push_back(domain);
      });
    }
    std::vector<Site> factors, outputs;
    for (std::size_t f = 0; f < operands_.size(); ++f) {
      std::vector<DimId> lives_in = graph_.factors()[f].dims;
      lives_in.insert(lives_in.end(), graph_.factors()[f].tied.begin(), graph_.factors()[f].tied.end());
      add_sites(factors, f, graph_.factors()[f].dims, operand_strides_[f], lives_in);
    }
    for (std::size_t o = 0; o < results_.size(); ++o) {
      const std::vector<DimId>& axes = graph_.outputs()[o].dims;
      if (!results_[o].empty()) add_sites(outputs, o, axes, output_strides_[o], axes);
    }
    if (std::count(domains_.begin(), domains_.end(), 0) > 0) return;  // an empty sum
    std::vector<std::int64_t> states(domains_.size(), 0);
    for (bool more = true; more;) {
      const auto [value, magnitude] = weight(factors, states);
      for (const Site& site : outputs) {
        Entry& entry = results_[site.owner][index_of(site, states)];
        entry.value = add(semiring_, entry.value, value);
        entry.magnitude =
            semiring_ == Semiring::real ? entry.magnitude + magnitude : std::max(entry.magnitude, magnitude);
      }
      more = false;
      for (std::size_t k = 0; k < states.size() && !more; ++k) {
        more = ++states[k] < domains_[k];
        if (!more) states[k] = 0;
      }
    }
  }

  Entry weight(const std::vector<Site>& factors, const std::vector<std::int64_t>& states) const {
    Entry result{one(semiring_), one(semiring_)};
    for (const Site& site : factors) {
      const long double entry = operands_[site.owner][index_of(site, states)];
      result.value = multiply(semiring_, result.value, entry);
      if (entry == zero(semiring_)) return {zero(semiring_), 0};
      result.magnitude =
          adds_logarithms(semiring_) ? result.magnitude + std::abs(entry) : result.magnitude * std::abs(entry);
    }
    return result;
  }

  const FactorGraph& graph_;
  Semiring semiring_;
  Slices slices_;
  Index at_;  // the index of each plate, chain and batch dim
  std::map<Index, std::size_t> copy_;
  std::vector<std::int64_t> domains_;  // of the unrolled variables
  std::vector<std::vector<double>> operands_;
  std::vector<std::vector<std::int64_t>> operand_strides_, output_strides_;
  std::vector<std::vector<Entry>> results_;
};

/// Every output's entries, in row-major order; what a slice that does not exist would hold is zero.
inline std::vector<std::vector<Entry>> unrolled(const FactorGraph& graph, const std::vector<Tensor>& operands,
                                                Semiring semiring, const Lengths& lengths = {}) {
  return Unroller(graph, operands, semiring, lengths).run();
}

}  // namespace plated::oracle
