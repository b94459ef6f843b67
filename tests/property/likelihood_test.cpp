// Fits random plated models and chains with likelihoods of numbers, against EM by enumeration of the unrolled graph
// with densities and estimates by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "graph/derived.hpp"
#include "graph/spell.hpp"
#include "plated/error.hpp"
#include "plated/fit.hpp"
#include "property/naive_em.hpp"
#include "property/naive_likelihood.hpp"
#include "property/random_case.hpp"
#include "property/random_chain.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

/// A model on a random graph, some of whose factors are likelihoods; the others are tables that are not learnt.
Model random_model(const FactorGraph& graph, const Lengths& lengths, Random& random) {
  Model model;
  model.space = random.chance(50) ? Space::log : Space::real;
  model.lengths = lengths;
  model.graph = graph;
  for (const Factor& factor : graph.factors()) {
    Tensor::Shape shape;
    std::int64_t elements = 1;
    bool plain = true;  // each dim once, and none of them a batch dim
    for (const DimId d : factor.dims) {
      shape.push_back(graph.dims()[d].size);
      elements *= shape.back();
      plain =
          plain && graph.dims()[d].kind != DimKind::batch && std::count(factor.dims.begin(), factor.dims.end(), d) == 1;
    }
    const bool likelihood = plain && random.chance(60);
    std::vector<double> weights;
    for (std::int64_t k = 0; k < elements; ++k) {
      const double weight = likelihood ? 1 : random.uniform(0.1, 1);
      weights.push_back(model.space == Space::log ? std::log(weight) : weight);
    }
    model.factors.push_back(Tensor::of(shape, weights));
    model.children.emplace_back();
    if (!likelihood) continue;
    model.likelihoods.emplace(factor.name, random_likelihood(shape, random));
    model.learning[factor.name].learn = random.chance(80);
  }
  return model;
}

/// Numbers for all likelihoods, some of them missing; batch dims may come first.
Measurements random_numbers(const Model& model, Random& random) {
  Measurements result;
  std::vector<std::int64_t> batch;
  for (const Dim& dim : model.graph.dims()) {
    if (dim.kind == DimKind::batch) batch.push_back(dim.size);
  }
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    const auto found = model.likelihoods.find(model.graph.factors()[f].name);
    if (found == model.likelihoods.end()) continue;
    std::vector<std::int64_t> shape = random.chance(50) ? batch : std::vector<std::int64_t>{};
    for (const DimId plate : model.graph.factor_plates(f)) shape.push_back(model.graph.dims()[plate].size);
    std::int64_t elements = 1;
    for (const std::int64_t extent : shape) elements *= extent;
    std::vector<double> numbers;
    const int seen = random.chance(50) ? 100 : 70;
    for (std::int64_t k = 0; k < elements; ++k) {
      const double number = random_number(found->second, random);
      numbers.push_back(random.chance(seen) ? number : std::numeric_limits<double>::quiet_NaN());
    }
    const bool any = std::any_of(numbers.begin(), numbers.end(), [](double x) { return !std::isnan(x); });
    if (any) result.emplace(found->first, Tensor::of<double>(shape, numbers));
  }
  return result;
}

/// What a measured likelihood is under its parameters: an ordinary factor with an axis for each plate.
class ByHand {
 public:
  ByHand(const Model& model, const Measurements& data) : model_(model), data_(data), tables_(model) {
    tables_.likelihoods.clear();
    tables_.learning.clear();
    tables_ = in_space(std::move(tables_), Space::log);
    for (std::size_t f = 0; f < model.factors.size(); ++f) {
      const std::string& name = model.graph.factors()[f].name;
      if (!data.contains(name)) continue;
      Factor factor = model.graph.factors()[f];
      std::vector<DimId> dims;
      const std::vector<DimId> plates = model.graph.factor_plates(f);
      if (data.at(name).rank() > plates.size()) dims = oracle::Slices(model.graph, {}).batch();
      dims.insert(dims.end(), plates.begin(), plates.end());
      for (const DimId d : factor.dims) {
        if (!graph::contains(plates, d)) dims.push_back(d);
      }
      factor.dims = dims;
      factor.tied.clear();
      graph::Derived::put_factor(tables_.graph, f, std::move(factor));
    }
  }

  /// ln L under the parameters, which are then replaced by better ones where they are learnt.
  long double step(std::map<std::string, Likelihood, std::less<>>& likelihoods) {
    for (std::size_t f = 0; f < model_.factors.size(); ++f) {
      const std::string& name = model_.graph.factors()[f].name;
      if (data_.contains(name)) tables_.factors[f] = densities(f, likelihoods.at(name));
    }
    const std::vector<std::vector<std::size_t>> none;
    NaiveEm naive(tables_, {}, none, 0);
    const long double total = naive.count();
    for (std::size_t f = 0; f < model_.factors.size(); ++f) {
      const std::string& name = model_.graph.factors()[f].name;
      if (data_.contains(name) && model_.learning.at(name).learn) {
        estimate_all(f, naive.counts()[f], likelihoods.at(name));
      }
    }
    return total;
  }

 private:
  /// Calls visit(entry of the table, number, entry of the parameters).
  template <class Visit>
  void each(std::size_t f, const Visit& visit) const {
    const std::vector<DimId>& dims = tables_.graph.factors()[f].dims;
    const std::vector<DimId>& own = model_.graph.factors()[f].dims;
    const Tensor& numbers = data_.at(model_.graph.factors()[f].name);
    Tensor::Shape shape;
    for (const DimId d : dims) shape.push_back(model_.graph.dims()[d].size);
    const Tensor::Shape strides = Tensor::row_major(shape);
    const Tensor::Shape own_strides = Tensor::row_major(model_.factors[f].shape());
    std::int64_t elements = 1;
    for (const std::int64_t extent : shape) elements *= extent;
    const std::vector<double> values = numbers.values();
    std::int64_t inner = 1;
    for (std::size_t k = numbers.rank(); k < shape.size(); ++k) inner *= shape[k];
    for (std::int64_t k = 0; k < elements; ++k) {
      std::int64_t parameter = 0;
      for (std::size_t a = 0; a < own.size(); ++a) {
        const auto at = static_cast<std::size_t>(std::find(dims.begin(), dims.end(), own[a]) - dims.begin());
        parameter += k / strides[at] % shape[at] * own_strides[a];
      }
      visit(static_cast<std::size_t>(k), values[static_cast<std::size_t>(k / inner)],
            static_cast<std::size_t>(parameter));
    }
  }

  Tensor densities(std::size_t f, const Likelihood& likelihood) const {
    Tensor::Shape shape;
    for (const DimId d : tables_.graph.factors()[f].dims) shape.push_back(model_.graph.dims()[d].size);
    Tensor result(Dtype::float64, shape);
    auto* const entries = static_cast<double*>(result.mutable_data());
    each(f, [&](std::size_t entry, double number, std::size_t parameter) {
      entries[entry] = std::isnan(number)
                           ? 0
                           : static_cast<double>(naive_log(likelihood, parameters_at(likelihood, parameter), number));
    });
    return result;
  }

  void estimate_all(std::size_t f, const std::vector<long double>& counts, Likelihood& likelihood) const {
    const auto entries = static_cast<std::size_t>(model_.factors[f].elements());
    std::vector<Weighted> seen(entries);
    each(f, [&](std::size_t entry, double number, std::size_t parameter) {
      if (!std::isnan(number)) seen[parameter].emplace_back(number, counts[entry]);
    });
    for (std::size_t k = 0; k < entries; ++k) {
      put_parameters_at(likelihood, k, naive_estimate(likelihood, parameters_at(likelihood, k), seen[k]));
    }
  }

  const Model& model_;
  const Measurements& data_;
  Model tables_;
};

struct Tally {
  std::int64_t fitted = 0, untied = 0, missing = 0, inflated = 0;
};

AssertionResult check_model(const Model& model, Random& random, Tally& tally) {
  const Measurements data = random_numbers(model, random);
  bool learnt = false;
  for (const auto& [name, learning] : model.learning) {
    if (learning.learn && !data.contains(name)) return AssertionSuccess();
    learnt = learnt || learning.learn;
  }
  if (!learnt) return AssertionSuccess();
  constexpr int steps = 3;
  auto likelihoods = model.likelihoods;
  ByHand by_hand(model, data);
  std::vector<long double> history;
  for (int k = 0; k < steps; ++k) history.push_back(by_hand.step(likelihoods));
  const FitOptions options{.iterations = steps, .tolerance = 0, .accelerate = false};
  try {
    const Fit got = fit(model, {.measurements = data}, options);
    // Where a component is degenerate, the floors decide.
    for (const std::string& note : got.notes) {
      if (note.find("degenerate") != std::string::npos) return AssertionSuccess();
    }
    ++tally.fitted;
    for (int k = 0; k < steps && k < std::ssize(got.history); ++k) {
      const auto want = static_cast<double>(history[static_cast<std::size_t>(k)]);
      const double have = got.history[static_cast<std::size_t>(k)];
      if (!(std::abs(have - want) <= 1e-7 * std::max(1.0, std::abs(want)))) {
        return AssertionFailure() << "objective " << k << ": " << have << ", not " << want;
      }
    }
    for (const auto& [name, likelihood] : likelihoods) {
      tally.inflated += likelihood.zero_inflated;
      for (const auto& [parameter, numbers] : likelihood.parameters) {
        const std::vector<double> have = got.model.likelihoods.at(name).parameters.at(parameter).values();
        const std::vector<double> want = numbers.values();
        for (std::size_t k = 0; k < want.size(); ++k) {
          if (std::abs(have[k] - want[k]) <= 1e-5 * std::max(1.0, std::abs(want[k]))) continue;
          return AssertionFailure() << name << ", " << parameter << " " << k << ": " << have[k] << ", not " << want[k];
        }
      }
    }
    for (const auto& [name, numbers] : data) {
      const std::vector<double> values = numbers.values();
      tally.missing += std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); });
      const std::size_t f = static_cast<std::size_t>(
          std::find_if(model.graph.factors().begin(), model.graph.factors().end(),
                       [&, &wanted = name](const Factor& factor) { return factor.name == wanted; }) -
          model.graph.factors().begin());
      const std::vector<DimId> plates = model.graph.factor_plates(f);
      tally.untied += std::any_of(plates.begin(), plates.end(),
                                  [&](DimId d) { return graph::contains(model.graph.factors()[f].dims, d); });
    }
    const Fit faster = fit(model, {.measurements = data}, {.restarts = 2, .iterations = 15});
    for (std::size_t k = 1; k < faster.history.size(); ++k) {
      if (!(faster.history[k] >= faster.history[k - 1] - 1e-9 * std::max(1.0, std::abs(faster.history[k])))) {
        return AssertionFailure() << "the objective falls to " << faster.history[k];
      }
    }
  } catch (const IntractableError&) {
  }
  return AssertionSuccess();
}

AssertionResult check_plates(std::uint64_t seed, Tally& tally) {
  const Case c = random_case(seed, {.most_work = 2000, .small_sizes = false});
  Random random(seed + 17);
  AssertionResult good = check_model(random_model(c.build(), {}, random), random, tally);
  return good ? good : good << "\n" << c.equation() << "\n" << c.build().print();
}

AssertionResult check_chain(std::uint64_t seed, Tally& tally) {
  const Case c = random_chain(seed, {.most_work = 2000, .small_sizes = false});
  Random random(seed + 17);
  AssertionResult good = check_model(random_model(c.build(), c.lengths, random), random, tally);
  return good ? good : good << "\n" << c.print();
}

TEST(FitNumbers, RandomPlatedModelsAgreeWithEnumeration) {
  Tally tally;
  for_each_seed(800, [&](std::uint64_t seed) { return check_plates(seed, tally); });
  EXPECT_GE(tally.fitted, quota(20));
  EXPECT_GE(tally.untied, quota(4));
  EXPECT_GE(tally.missing, quota(2));
  EXPECT_GE(tally.inflated, quota(10));
}

TEST(FitNumbers, RandomChainsAgreeWithEnumeration) {
  Tally tally;
  for_each_seed(60, [&](std::uint64_t seed) { return check_chain(seed, tally); });
  EXPECT_GE(tally.fitted, quota(5));
  EXPECT_GE(tally.missing, quota(2));
}

TEST(FitNumbers, NearlyEqualNumbersAgreeWithEnumeration) {
  Tally tally;
  EXPECT_TRUE(check_plates(777321, tally));  // a large concentration
  EXPECT_TRUE(check_chain(777083, tally));   // a large alpha and beta
  // Shapes that are held, where a step gains nothing: the objective must not fall by rounding.
  for (const std::uint64_t seed : {779154, 781979, 783603}) EXPECT_TRUE(check_plates(seed, tally)) << seed;
  // An alpha and a beta that are held together.
  for (const std::uint64_t seed : {100022, 101124}) EXPECT_TRUE(check_plates(seed, tally)) << seed;
  EXPECT_TRUE(check_chain(100434, tally));
}

}  // namespace
}  // namespace plated::test
