// Whole weights of plates on random models, against the model whose slices are repeated.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/repeated_pair.hpp"

namespace plated::test {
namespace {

class WholeWeights : public Weighted {};

TEST_P(WholeWeights, GiveTheOutputsOfRepeatedSlices) {
  const auto [chained, semiring] = GetParam();
  std::int64_t compared = 0;
  DrawOptions draw{.semiring = semiring, .zero_percent = 5, .signs = true};
  if (chained) draw.graphs = ChainOptions{.ragged = false};
  for_each_model(chained ? 300 : 1500, draw, [&](DrawnModel& drawn) {
    // A plate of one slice that is repeated may make a graph intractable.
    if (!compile_if_tractable(Repeated(drawn, 3).doubled())) return testing::AssertionSuccess();
    Pair pair(drawn);
    compared += pair.weighted.weights.empty() ? 0 : 1;
    const auto got = drawn.plan.run(drawn.tensors(), pair.weighted), want = pair.plan.run(pair.operands, drawn.run());
    testing::AssertionResult good = testing::AssertionSuccess();
    for (std::size_t o = 0; o < got.size() && good; ++o) {
      good = pair.same("output " + std::to_string(o), got[o], want[o], drawn.graph.outputs()[o].dims, false,
                       {1e-11, 1e-300});
    }
    return good;
  });
  EXPECT_GT(compared, quota(50)) << "too little was weighted";
}

INSTANTIATE_TEST_SUITE_P(Of, WholeWeights,
                         testing::Combine(testing::Bool(), testing::Values(Semiring::real, Semiring::log,
                                                                           Semiring::max_plus, Semiring::min_plus,
                                                                           Semiring::max_product, Semiring::boolean)),
                         weighted_name);

class WeightedPosteriors : public Weighted {};

TEST_P(WeightedPosteriors, HaveTheDerivativesOfRepeatedSlices) {
  for_each(700, 300, [](DrawnModel& drawn) -> testing::AssertionResult {
    Pair pair(drawn);
    std::vector<Tensor> cotangents, others, direction, further;
    for (std::size_t o = 0; o < drawn.graph.outputs().size(); ++o) {
      const std::vector<DimId>& dims = drawn.graph.outputs()[o].dims;
      Tensor::Shape shape;
      for (const DimId d : dims) shape.push_back(drawn.graph.dims()[d].size);
      const Tensor random = signed_tensor(shape, drawn.random);
      // Of slices of weight zero no repeated one tells.
      const std::vector<bool> unknown = pair.repeated.missing(dims);
      for (std::size_t k = 0; k < unknown.size(); ++k) {
        if (unknown[k]) static_cast<double*>(random.mutable_data())[k] = 0;
      }
      cotangents.push_back(random);
      others.push_back(pair.repeated.spread(random, dims, 0.0));
    }
    for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
      direction.push_back(signed_tensor(drawn.tensors()[f].shape(), drawn.random));
      further.push_back(pair.spread(f, direction.back()));
    }
    pair.scale = 30;
    const auto got = value_and_gradient(drawn.plan, drawn.tensors(), pair.weighted, {.cotangents = cotangents});
    const auto want = value_and_gradient(pair.plan, pair.operands, drawn.run(), {.cotangents = others});
    const auto curved = hessian_vector_product(drawn.plan, drawn.tensors(), direction, pair.weighted, cotangents);
    const auto bent = hessian_vector_product(pair.plan, pair.operands, further, drawn.run(), others);
    const Bound within{1e-11, 1e-300};
    testing::AssertionResult good = testing::AssertionSuccess();
    for (std::size_t f = 0; f < drawn.tensors().size() && good; ++f) {
      const std::vector<DimId>& dims = drawn.graph.factors()[f].dims;
      const std::string of = std::to_string(f);
      double most = 0;
      for (const double x : want.gradients[f].values()) most = std::max(most, std::abs(x));
      for (const double x : bent.products[f].values()) most = std::max(most, std::abs(x));
      pair.scale = 30 + most;
      good = pair.same("gradient " + of, got.gradients[f], want.gradients[f], dims, true, within, 0.0);
      if (good) good = pair.same("product " + of, curved.products[f], bent.products[f], dims, true, within, 0.0);
    }
    for (std::size_t o = 0; o < curved.tangents.size() && good; ++o) {
      double most = 0;
      for (const double x : bent.tangents[o].values()) most = std::max(most, std::abs(x));
      pair.scale = 30 + most;
      good = pair.same("tangent", curved.tangents[o], bent.tangents[o], drawn.graph.outputs()[o].dims, false, within);
    }
    return good;
  });
}

TEST_P(WeightedPosteriors, HaveTheMarginalsOfOneCopy) {
  for_each(700, 100, [](DrawnModel& drawn) -> testing::AssertionResult {
    Pair pair(drawn);
    testing::AssertionResult good = testing::AssertionSuccess();
    for (const bool log : {false, true}) {
      const MarginalOptions wanted{.factors = true, .log = log};
      const Marginals got = marginals(drawn.plan, drawn.tensors(), pair.weighted, wanted);
      const Marginals want = marginals(pair.plan, pair.operands, drawn.run(), wanted);
      const double none = log ? -std::numeric_limits<double>::infinity() : 0.0;
      for (const auto& [name, posterior] : got.variables) {
        if (good) {
          good = pair.same("marginal of " + name, posterior, want.variables.at(name), axes_of(drawn, name), false,
                           {1e-11, 0}, none);
        }
      }
      for (std::size_t f = 0; f < got.factors.size() && good; ++f) {
        const std::vector<DimId>& tied = drawn.graph.factors()[f].tied;
        const auto is_empty = [&](DimId d) { return pair.repeated.graph.dims()[d].size == 0; };
        if (std::any_of(tied.begin(), tied.end(), is_empty)) continue;  // there is no such factor
        good = pair.same("factor " + std::to_string(f) + (log ? " in logarithms" : ""), got.factors[f], want.factors[f],
                         drawn.graph.factors()[f].dims, false, {1e-11, 0}, none);
      }
    }
    return good;
  });
}

TEST_P(WeightedPosteriors, HaveTheMomentsOfRepeatedSlices) {
  for_each(700, 100, [](DrawnModel& drawn) -> testing::AssertionResult {
    Pair pair(drawn);
    std::vector<Tensor> statistics, spread;
    for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
      statistics.push_back(signed_tensor(drawn.tensors()[f].shape(), drawn.random));
      spread.push_back(pair.spread(f, statistics[f]));
    }
    pair.scale = 100;
    const std::vector<DimId> batch = drawn.of_kind(DimKind::batch);
    const auto good = pair.same("entropy", entropy(drawn.plan, drawn.tensors(), pair.weighted),
                                entropy(pair.plan, pair.operands, drawn.run()), batch, false, {1e-13, 0});
    const Tensor got = expectation(drawn.plan, drawn.tensors(), statistics, pair.weighted);
    const Tensor want = expectation(pair.plan, pair.operands, spread, drawn.run());
    return good ? pair.same("expectation", got, want, batch, false, {1e-13, 0}) : good;
  });
}

TEST_P(WeightedPosteriors, HaveTheBestAssignmentOfRepeatedSlices) {
  for_each(700, 100, [](DrawnModel& drawn) -> testing::AssertionResult {
    Pair pair(drawn, 2);
    const MapResult got = map(drawn.plan, drawn.tensors(), pair.weighted);
    const MapResult want = map(pair.plan, pair.operands, drawn.run());
    const std::vector<DimId> batch = drawn.of_kind(DimKind::batch);
    auto good = pair.same("score", got.score, want.score, batch, false, {1e-12, 0});
    const auto each = max_marginals(drawn.plan, drawn.tensors(), pair.weighted);
    const auto others = max_marginals(pair.plan, pair.operands, drawn.run());
    for (const auto& [name, best] : each) {
      if (good)
        good = pair.same("max-marginal of " + name, best, others.at(name), axes_of(drawn, name), false, {1e-12, 0});
    }
    // The assignment, with its states repeated, has the score: each state has the best max-marginal of its slice.
    for (const auto& [name, states] : got.assignment) {
      const std::vector<double> scores = each.at(name).values();
      const std::int64_t domain = drawn.graph.dims()[*drawn.graph.find(name)].size;
      for (std::size_t k = 0; k < states.values.size() && good; ++k) {
        const auto first = scores.begin() + static_cast<std::ptrdiff_t>(k) * domain;
        const double best = *std::max_element(first, first + domain);
        if (std::abs(first[states.values[k]] - best) > 1e-11 * (1 + std::abs(best))) {
          good = testing::AssertionFailure() << "state " << k << " of " << name << " is not the best";
        }
      }
    }
    return good;
  });
}

TEST_P(WeightedPosteriors, HaveSamplesOfOneCopy) {
  for_each(150, 40, [](DrawnModel& drawn) -> testing::AssertionResult {
    Pair pair(drawn);
    const std::int64_t count = 2000;
    const auto draws = sample(drawn.plan, drawn.tensors(), {.count = count, .seed = 5}, pair.weighted);
    const Marginals want = marginals(drawn.plan, drawn.tensors(), pair.weighted);
    for (const auto& [name, states] : draws) {
      const std::vector<double> p = want.variables.at(name).values();
      const std::int64_t domain = drawn.graph.dims()[*drawn.graph.find(name)].size;
      std::vector<double> seen(p.size(), 0);
      const std::size_t slices = p.size() / static_cast<std::size_t>(domain);
      for (std::size_t k = 0; k < states.values.size(); ++k) {
        seen.at(k % slices * static_cast<std::size_t>(domain) + static_cast<std::size_t>(states.values[k])) += 1;
      }
      const std::vector<bool> unknown = pair.repeated.missing(axes_of(drawn, name));
      for (std::size_t k = 0; k < p.size(); ++k) {
        const double n = static_cast<double>(count), spread = std::sqrt(n * p[k] * (1 - p[k]));
        if (!unknown[k] && std::abs(seen[k] - n * p[k]) > 6 * spread + 3) {
          return testing::AssertionFailure()
                 << name << " entry " << k << " was drawn " << seen[k] << " times, not " << n * p[k];
        }
      }
    }
    return testing::AssertionSuccess();
  });
}

INSTANTIATE_TEST_SUITE_P(Of, WeightedPosteriors,
                         testing::Combine(testing::Bool(), testing::Values(Semiring::log, Semiring::real)),
                         weighted_name);

}  // namespace
}  // namespace plated::test
