// Weights of plates on random graphs: whole ones against the graph whose slices are repeated, others against laws.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/repeated_slices.hpp"

namespace plated::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The weighted model and the repeated one, asked the same.
struct Pair {
  Pair(Drawn& drawn, std::int64_t most = 3)
      : given(drawn), repeated(drawn, most), plan(compile(repeated.graph)), weighted(drawn.run()) {
    weighted.weights = repeated.weights;
    for (std::size_t f = 0; f < drawn.tensors().size(); ++f) operands.push_back(spread(f, drawn.tensors()[f]));
  }
  [[nodiscard]] Tensor spread(std::size_t f, const Tensor& t) const {
    return repeated.spread(t, given.graph.factors()[f].dims);
  }
  /// Compares an answer with that of the repeated model; what no copy tells of is not compared.
  [[nodiscard]] testing::AssertionResult same(const std::string& what, const Tensor& got, const Tensor& other,
                                              const std::vector<DimId>& dims, bool sums, Bound within,
                                              std::optional<double> missing = {}) const {
    Numbers want = repeated.gathered(other, dims, sums, missing.value_or(0)), size;
    const std::vector<bool> unknown = repeated.missing(dims);
    const std::vector<double> values = got.elements() > 0 ? got.values() : std::vector<double>{};
    for (std::size_t k = 0; k < want.size(); ++k) {
      if (unknown[k] && !missing) want[k] = values[k];
      size.push_back(std::isinf(want[k]) ? 1 : std::abs(want[k]) + scale);
    }
    return near(what, got, got.shape(), want, size, within);
  }

  Drawn& given;
  Repeated repeated;
  Plan plan;
  RunOptions weighted;
  std::vector<Tensor> operands;
  double scale = 1;
};

std::vector<DimId> axes_of(const Drawn& drawn, const std::string& variable) {
  return oracle::Posterior(drawn.graph, drawn.tensors(), Semiring::boolean).axes({*drawn.graph.find(variable)});
}

class WholeWeights : public testing::TestWithParam<Semiring> {};

TEST_P(WholeWeights, GiveTheOutputsOfRepeatedSlices) {
  for_each_tractable(1500, {.semiring = GetParam(), .zero_percent = 5, .signs = true}, [](Drawn& drawn) {
    // A plate of one slice that is repeated may make a graph intractable.
    if (!compile_if_tractable(Repeated(drawn, 3).doubled())) return testing::AssertionSuccess();
    Pair pair(drawn);
    const auto got = drawn.plan.run(drawn.tensors(), pair.weighted), want = pair.plan.run(pair.operands, drawn.run());
    testing::AssertionResult good = testing::AssertionSuccess();
    for (std::size_t o = 0; o < got.size() && good; ++o) {
      good = pair.same("output " + std::to_string(o), got[o], want[o], drawn.graph.outputs()[o].dims, false,
                       {1e-11, 1e-300});
    }
    return good;
  });
}

INSTANTIATE_TEST_SUITE_P(Semirings, WholeWeights,
                         testing::Values(Semiring::real, Semiring::log, Semiring::max_plus, Semiring::min_plus,
                                         Semiring::max_product, Semiring::boolean),
                         [](const auto& of) { return std::string(name(of.param)); });

class WeightedPosteriors : public testing::TestWithParam<Semiring> {
 protected:
  static Draw draw() { return {.semiring = GetParam(), .graphs = {.most_work = 5000, .small_sizes = false}}; }
};

TEST_P(WeightedPosteriors, HaveTheDerivativesOfRepeatedSlices) {
  for_each_tractable(700, draw(), [](Drawn& drawn) -> testing::AssertionResult {
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
  for_each_tractable(700, draw(), [](Drawn& drawn) -> testing::AssertionResult {
    Pair pair(drawn);
    testing::AssertionResult good = testing::AssertionSuccess();
    for (const bool log : {false, true}) {
      const MarginalOptions wanted{.factors = true, .log = log};
      const Marginals got = marginals(drawn.plan, drawn.tensors(), pair.weighted, wanted);
      const Marginals want = marginals(pair.plan, pair.operands, drawn.run(), wanted);
      const double none = log ? -infinity : 0.0;
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
  for_each_tractable(700, draw(), [](Drawn& drawn) -> testing::AssertionResult {
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
  for_each_tractable(700, draw(), [](Drawn& drawn) -> testing::AssertionResult {
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
  for_each_tractable(150, draw(), [](Drawn& drawn) -> testing::AssertionResult {
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

TEST_P(WeightedPosteriors, LeaveOutAllCopiesOfASlice) {
  for_each_tractable(500, draw(), [](Drawn& drawn) -> testing::AssertionResult {
    Pair pair(drawn);
    const auto total = [&](const RunOptions& options) {
      return marginals(drawn.plan, drawn.tensors(), options, {.variables = false}).log_partition.values();
    };
    for (const DimId plate : drawn.of_kind(DimKind::plate)) {
      const std::string& name = drawn.name_of(plate);
      const auto slices = static_cast<std::size_t>(drawn.graph.dims()[plate].size);
      const std::vector<double> got = leave_one_out(drawn.plan, drawn.tensors(), name, pair.weighted).values(),
                                all = total(pair.weighted);
      std::vector<double> each(slices, 1);
      if (const auto given = pair.weighted.weights.find(name); given != pair.weighted.weights.end()) {
        each.assign(slices, given->second.values()[0]);
        if (given->second.rank() > 0) each = given->second.values();
      }
      for (std::size_t i = 0; i < slices; ++i) {
        std::vector<double> rest = each;
        rest[i] = 0;
        RunOptions without = pair.weighted;
        without.weights.insert_or_assign(name, Tensor::of({static_cast<std::int64_t>(slices)}, rest));
        const std::vector<double> others = total(without);
        for (std::size_t n = 0; n < all.size(); ++n) {
          const double want = all[n] - others[n], off = std::abs(got[n * slices + i] - want);
          if (!(off <= 1e-12 * (std::abs(all[n]) + std::abs(others[n]) + 20))) {
            return testing::AssertionFailure()
                   << "without slice " << i << " of " << name << ": " << got[n * slices + i] << ", not " << want;
          }
        }
      }
    }
    return testing::AssertionSuccess();
  });
}

TEST_P(WeightedPosteriors, ShareWeightsAmongEqualSlices) {
  // A slice of any weight is as good as two equal ones of half of it each.
  for_each_tractable(500, draw(), [](Drawn& drawn) -> testing::AssertionResult {
    RunOptions whole = drawn.run(), halves = drawn.run();
    Copies copies;
    for (const DimId d : drawn.of_kind(DimKind::plate)) {
      const std::int64_t size = drawn.graph.dims()[d].size;
      std::vector<double> w, h;
      for (std::int64_t i = 0; i < 2 * size; ++i) {
        if (i % 2 == 0) w.push_back(drawn.random.uniform(0, 3));
        h.push_back(w.back() / 2);
        copies[d].push_back(i / 2);
      }
      whole.weights.emplace(drawn.name_of(d), Tensor::of({size}, w));
      halves.weights.emplace(drawn.name_of(d), Tensor::of({2 * size}, h));
    }
    Repeated repeated(drawn, 0);
    repeated.graph = repeated.doubled();
    repeated.copies = copies;
    std::vector<Tensor> operands;
    for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
      operands.push_back(repeated.spread(drawn.tensors()[f], drawn.graph.factors()[f].dims));
    }
    const Plan plan = compile(repeated.graph);
    const auto got = drawn.plan.run(drawn.tensors(), whole), want = plan.run(operands, halves);
    testing::AssertionResult good = testing::AssertionSuccess();
    for (std::size_t o = 0; o < got.size() && good; ++o) {
      const Numbers first = repeated.gathered(want[o], drawn.graph.outputs()[o].dims, false, 0);
      Numbers size;
      for (const long double x : first) size.push_back(std::abs(x) + 20);
      good = near("output " + std::to_string(o), got[o], got[o].shape(), first, size, {1e-12, 0});
    }
    return good;
  });
}

TEST_P(WeightedPosteriors, HaveTheGradientOfFiniteDifferences) {
  for_each_tractable(300, draw(), [](Drawn& drawn) -> testing::AssertionResult {
    RunOptions options = drawn.run();
    for (const DimId d : drawn.of_kind(DimKind::plate)) {
      std::vector<double> each;
      for (std::int64_t i = 0; i < drawn.graph.dims()[d].size; ++i) each.push_back(drawn.random.uniform(0, 3));
      options.weights.emplace(drawn.name_of(d), Tensor::of({drawn.graph.dims()[d].size}, each));
    }
    std::vector<Tensor> direction, cotangents;
    for (const Tensor& t : drawn.tensors()) direction.push_back(signed_tensor(t.shape(), drawn.random));
    for (const Output& output : drawn.graph.outputs()) {
      Tensor::Shape shape;
      for (const DimId d : output.dims) shape.push_back(drawn.graph.dims()[d].size);
      cotangents.push_back(signed_tensor(shape, drawn.random));
    }
    const auto dot = [](const std::vector<Tensor>& a, const std::vector<Tensor>& b, long double& magnitude) {
      long double sum = 0;
      for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k].elements() == 0) continue;
        const std::vector<double> x = a[k].values(), y = b[k].values();
        for (std::size_t e = 0; e < x.size(); ++e) {
          sum += static_cast<long double>(x[e]) * y[e];
          magnitude += std::abs(static_cast<long double>(x[e]) * y[e]);
        }
      }
      return sum;
    };
    const auto at = [&](double t) {
      std::vector<Tensor> moved;
      for (std::size_t f = 0; f < direction.size(); ++f) {
        std::vector<double> x = drawn.tensors()[f].values();
        const std::vector<double> d = direction[f].values();
        for (std::size_t k = 0; k < x.size(); ++k) x[k] += t * d[k];
        moved.push_back(Tensor::of(drawn.tensors()[f].shape(), x));
      }
      return value_and_gradient(drawn.plan, moved, options, {.cotangents = cotangents});
    };
    const double step = 1e-5;
    const auto before = at(-step), here = at(0), after = at(step);
    const auto product = hessian_vector_product(drawn.plan, drawn.tensors(), direction, options, cotangents);
    long double magnitude = 0;
    const long double slope = dot(here.gradients, direction, magnitude);
    const long double rise = dot(after.values, cotangents, magnitude) - dot(before.values, cotangents, magnitude);
    if (std::abs(rise / (2 * step) - slope) > 1e-6L * (1 + magnitude)) {
      return testing::AssertionFailure() << "slope " << static_cast<double>(slope) << ", not "
                                         << static_cast<double>(rise / (2 * step));
    }
    long double size = 0;
    const long double bend = dot(product.products, direction, size);
    const long double turn = dot(after.gradients, direction, size) - dot(before.gradients, direction, size);
    if (std::abs(turn / (2 * step) - bend) > 1e-6L * (1 + size)) {
      return testing::AssertionFailure() << "curvature " << static_cast<double>(bend) << ", not "
                                         << static_cast<double>(turn / (2 * step));
    }
    return testing::AssertionSuccess();
  });
}

INSTANTIATE_TEST_SUITE_P(Semirings, WeightedPosteriors, testing::Values(Semiring::log, Semiring::real),
                         [](const auto& of) { return std::string(name(of.param)); });

}  // namespace
}  // namespace plated::test
