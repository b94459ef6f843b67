// Random chains with plans and operands; entries beyond a chain's length are NaN, which must not matter.
#pragma once

#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "property/adjoint_case.hpp"
#include "property/derivative_question.hpp"
#include "property/random_chain.hpp"

namespace plated::test {

struct ChainDraw {
  Semiring semiring = Semiring::log;
  std::vector<Dtype> dtypes = {Dtype::float64};
  int zero_percent = 0;
  bool extreme = false;  // slices that weigh 1e±300, or are masked with −1e30 in log space
  bool signs = false;    // negative entries in the real semiring; without them its operands are weights
  ChainOptions graphs = {};
};

struct DrawnChain : Drawn {
  Case chain_case;

  [[nodiscard]] RunOptions run() const {
    RunOptions options = Drawn::run();
    options.lengths = chain_case.lengths;
    return options;
  }
  [[nodiscard]] oracle::Posterior posterior() const {
    return oracle::Posterior(graph, tensors(), semiring, chain_case.lengths, extreme);
  }
  /// Variables but for the ends of chains.
  [[nodiscard]] std::vector<DimId> variables() const {
    std::vector<DimId> result = of_kind(DimKind::variable);
    std::erase_if(result, [&](DimId v) { return graph.dims()[v].end != End::none; });
    return result;
  }
  [[nodiscard]] std::string print() const {
    std::ostringstream text;
    text << chain_case.print() << "\n  " << name(semiring);
    for (const Tensor& t : tensors()) {
      text << "\n  " << name(t.dtype()) << " {";
      for (const double x : t.values()) text << " " << x;
      text << " }";
    }
    return text.str() + "\n";
  }
};

/// The entries of each operand that some copy of its factor may read.
inline std::vector<std::vector<bool>> entries_read(const FactorGraph& graph, const Lengths& lengths) {
  std::vector<std::vector<bool>> read;
  for (const Factor& factor : graph.factors()) {
    std::size_t entries = 1;
    for (const DimId d : factor.dims) entries *= static_cast<std::size_t>(graph.dims()[d].size);
    read.emplace_back(entries, false);
  }
  oracle::Index at(graph.dims().size(), 0);
  oracle::for_each_index(graph, oracle::Slices(graph, {}).batch(), at, [&] {
    const oracle::World world(graph, at, {}, lengths);
    for (const oracle::Site& site : world.factors) {
      // All states of the site's variables, one variable after the other.
      std::map<std::size_t, std::int64_t> strides;
      for (const auto& [variable, stride] : site.variables) strides[variable] += stride;
      std::vector<std::int64_t> offsets{site.base};
      for (const auto& [variable, stride] : strides) {
        std::vector<std::int64_t> moved;
        for (const std::int64_t offset : offsets) {
          for (std::int64_t s = 0; s < world.domains[variable]; ++s) moved.push_back(offset + s * stride);
        }
        offsets = std::move(moved);
      }
      for (const std::int64_t offset : offsets) read[site.owner][static_cast<std::size_t>(offset)] = true;
    }
  });
  return read;
}

/// Where each entry of a tensor lies in memory, in row-major order.
inline std::vector<std::int64_t> places_of(const Tensor& tensor) {
  std::vector<std::int64_t> places{0};
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
    std::vector<std::int64_t> longer;
    for (const std::int64_t place : places) {
      for (std::int64_t k = 0; k < tensor.shape()[axis]; ++k) longer.push_back(place + k * tensor.strides()[axis]);
    }
    places = std::move(longer);
  }
  return places;
}

/// Writes NaN into every entry of operands whose index on a chain's axis is beyond all lengths it may stand for, unless
/// an entry that is read lies at the same place.
inline void spoil_padding(const FactorGraph& graph, const Lengths& lengths, const std::vector<Tensor>& operands) {
  const auto all = entries_read(graph, {});
  for (std::size_t f = 0; f < operands.size(); ++f) {
    Lengths of_axes;
    for (const DimId d : graph.factors()[f].dims) {
      const auto given = lengths.find(graph.dims()[d].name);
      if (given != lengths.end()) of_axes.insert(*given);
    }
    if (of_axes.empty()) continue;
    const std::vector<bool> read = entries_read(graph, of_axes)[f];
    const std::vector<std::int64_t> places = places_of(operands[f]);
    std::set<std::int64_t> kept;
    for (std::size_t k = 0; k < read.size(); ++k) {
      if (read[k] || !all[f][k]) kept.insert(places[k]);
    }
    for (const std::int64_t place : places) {
      if (kept.contains(place)) continue;
      if (operands[f].dtype() == Dtype::float32) {
        static_cast<float*>(operands[f].mutable_data())[place] = std::numeric_limits<float>::quiet_NaN();
      } else {
        static_cast<double*>(operands[f].mutable_data())[place] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
}

/// A number for each variable: the same for variables of a chain's slices that factors join, in a slice or along it.
inline std::vector<DimId> joined_in(const FactorGraph& graph, DimId chain) {
  const auto plates = graph.variable_plates();
  std::vector<std::vector<DimId>> together;
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    if (!oracle::contains(graph.factor_plates(f), chain)) continue;
    together.push_back(graph.factor_variables(f));
    std::erase_if(together.back(), [&](DimId v) { return !oracle::contains(plates[v], chain); });
  }
  for (const Chain& c : graph.chains()) {
    for (const Link& link : c.links) together.push_back({link.source, link.target});
  }
  std::vector<DimId> label(graph.dims().size());
  for (DimId v = 0; v < label.size(); ++v) label[v] = v;
  for (std::size_t round = 0; round < label.size(); ++round) {
    for (const std::vector<DimId>& group : together) {
      for (const DimId u : group) {
        for (const DimId w : group) label[u] = std::min(label[u], label[w]);
      }
    }
  }
  return label;
}

/// Calls `property(drawn)` for each seed; every graph must have a plan, unless it may be refused (OptionError).
template <class Property>
void for_each_chain(std::uint64_t runs, const ChainDraw& draw, bool may_refuse, Property property) {
  for_each_seed(runs, [&](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_chain(seed, draw.graphs);
    std::string text = c.print() + "\n";
    testing::AssertionResult result = testing::AssertionSuccess();
    try {
      const FactorGraph graph = c.build();
      const Plan plan = compile(graph);
      Random random(seed + 5000011);
      const bool weights = draw.semiring == Semiring::real && !draw.signs;
      Operands operands(graph, random,
                        {.semiring = weights ? Semiring::max_product : draw.semiring,
                         .dtypes = draw.dtypes,
                         .strided = random.chance(50),
                         .zero_percent = draw.zero_percent,
                         .extreme = draw.extreme});
      if (!c.lengths.empty()) spoil_padding(graph, c.lengths, operands.tensors());
      DrawnChain drawn{{c, graph, plan, draw.semiring, random, std::move(operands), draw.extreme}, c};
      text = drawn.print();
      result = property(drawn);
    } catch (const OptionError& error) {
      result = may_refuse ? testing::AssertionSuccess() : testing::AssertionFailure() << "refused " << error.what();
    } catch (const std::exception& error) {
      result = testing::AssertionFailure() << "threw " << error.what();
    }
    if (result) return result;
    return testing::AssertionFailure() << text << result.message();
  });
}
template <class Property>
void for_each_chain(std::uint64_t runs, const ChainDraw& draw, Property property) {
  for_each_chain(runs, draw, false, property);
}

/// What the library is asked about derivatives, put to the oracle.
inline oracle::Question chain_question(const DrawnChain& drawn, const std::vector<Tensor>& cotangents) {
  oracle::Question q = question(drawn, cotangents);
  q.lengths = drawn.chain_case.lengths;
  return q;
}

/// −∞ in probabilities' logarithms, and everything else, compared as what it is.
inline testing::AssertionResult near_probabilities(const std::string& what, const Tensor& got,
                                                   const Tensor::Shape& shape, const Numbers& probabilities, bool log,
                                                   const Bound& bound) {
  const Numbers want = log ? logarithms(probabilities) : probabilities;
  return near(what, got, shape, want, log ? log_magnitude(want) : probabilities, bound);
}

}  // namespace plated::test
