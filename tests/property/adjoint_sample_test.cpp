// Joint samples: chi-squared tests on all joint cells, independence, and a stream that depends on the seed alone.
#include <gtest/gtest.h>

#include <tuple>

#include "plated/sample.hpp"
#include "property/adjoint_case.hpp"
#include "property/blocked_from.hpp"
#include "property/chi_squared.hpp"

namespace plated::test {
namespace {

using Draws = std::map<std::string, Integers>;

/// The counts of a batch's joint cells.
std::vector<std::int64_t> count_cells(const oracle::Posterior& posterior, const Draws& draws, std::int64_t count,
                                      std::size_t batch, std::size_t cells) {
  std::vector<std::int64_t> counts(cells, 0);
  for (std::int64_t s = 0; s < count; ++s) {
    const std::size_t block = static_cast<std::size_t>(s) * posterior.batches() + batch;
    ++counts.at(posterior.cell(posterior.states(block, draws)));
  }
  return counts;
}

testing::AssertionResult check(Drawn& drawn, std::int64_t count) {
  oracle::Posterior posterior = drawn.posterior();
  const auto ask = [&] {
    return sample(drawn.plan, drawn.tensors(), {.count = count, .seed = drawn.c.seed + 11}, drawn.run());
  };
  if (any_zero(posterior.table({}), drawn.semiring)) return impossible([&] { (void)ask(); });
  const Draws draws = ask();
  const auto plates = drawn.graph.variable_plates();
  for (const DimId v : drawn.of_kind(DimKind::variable)) {
    Tensor::Shape shape = posterior.shape(posterior.axes({}));
    shape.insert(shape.begin(), count);
    for (const DimId b : plates[v]) shape.push_back(drawn.graph.dims()[b].size);
    const Integers& states = draws.at(drawn.name_of(v));
    if (states.shape != shape) return testing::AssertionFailure() << drawn.name_of(v) << " has the wrong shape";
    for (const std::int64_t s : states.values) {
      if (s < 0 || s >= drawn.graph.dims()[v].size) return testing::AssertionFailure() << "state " << s;
    }
  }
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    const Numbers cells = posterior.cells(n);
    const auto good = plausible(count_cells(posterior, draws, count, n, cells.size()), cells);
    if (!good) return testing::AssertionFailure() << good.message() << ", batch " << n;
  }
  return testing::AssertionSuccess();
}

class Sample : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  void run(std::uint64_t runs, int zero_percent, bool extreme = false) {
    const Draw draw{.semiring = std::get<0>(GetParam()),
                    .dtypes = {std::get<1>(GetParam())},
                    .zero_percent = zero_percent,
                    .extreme = extreme,
                    .graphs = {.most_work = 3000}};
    for_each_tractable(runs, draw, [&](Drawn& drawn) { return check(drawn, 4000); });
  }
};

TEST_P(Sample, HasTheJointDistribution) { run(250, 0); }
TEST_P(Sample, NeverDrawsTheImpossible) { run(250, 12); }
TEST_P(Sample, OfRunsInBlocks) {
  const BlockedFrom all(0);
  run(100, 5);
}
/// Until posteriors are exact for slices that weigh 1e±300, or are masked with −1e30 in log space.
TEST_P(Sample, OfExtremeMagnitudes) { run(250, 0, true); }

INSTANTIATE_TEST_SUITE_P(Semirings, Sample,
                         testing::Combine(testing::Values(Semiring::log, Semiring::real),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

/// x; y in plate i; z in plates i and j: everything depends on what is above it.
struct Tree {
  FactorGraph graph = FactorGraph::from_equation(
      "x,ixy,ijyz->", std::vector<Tensor::Shape>{{2}, {2, 2, 2}, {2, 2, 2, 2}}, {.plates = "ij"});
  std::vector<Tensor> operands = {
      Tensor::of<double>({2}, {0.3, 0}), Tensor::of<double>({2, 2, 2}, {1, -0.5, -0.7, 1, 0.4, -1, -1, 0.8}),
      Tensor::of<double>({2, 2, 2, 2}, {1, -1, -1, 1, 0.5, 0, 0, 0.9, 0, 0.6, 0.2, -0.4, -0.8, 0.1, 0.3, -0.2})};
  Plan plan = compile(graph);
};

TEST(Samples, OfATreeHaveTheJointDistribution) {
  const Tree tree;
  const oracle::Posterior posterior(tree.graph, tree.operands, Semiring::log);
  const std::int64_t count = cases(200000);
  const Numbers cells = posterior.cells(0);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Draws draws = sample(tree.plan, tree.operands, {.count = count, .seed = seed});
    EXPECT_TRUE(plausible(count_cells(posterior, draws, count, 0, cells.size()), cells)) << "seed " << seed;
  }
}

TEST(Samples, OfAWrongSamplerAreFound) {
  const Tree tree;
  const oracle::Posterior posterior(tree.graph, tree.operands, Semiring::log);
  const std::int64_t count = 4000;
  const Numbers cells = posterior.cells(0);
  Draws draws = sample(tree.plan, tree.operands, {.count = count, .seed = 5});
  EXPECT_TRUE(plausible(count_cells(posterior, draws, count, 0, cells.size()), cells));
  // Every variable keeps its marginal, but x no longer belongs to the sample that its y are in.
  std::vector<std::int64_t>& x = draws.at("x").values;
  std::rotate(x.begin(), x.begin() + 1, x.end());
  EXPECT_FALSE(plausible(count_cells(posterior, draws, count, 0, cells.size()), cells));
  // A slight bias: of the draws with x = 1, one in ten becomes x = 0.
  draws = sample(tree.plan, tree.operands, {.count = count, .seed = 5});
  std::int64_t seen = 0;
  for (std::int64_t& s : draws.at("x").values) s = s == 1 && ++seen % 10 == 0 ? 0 : s;
  EXPECT_FALSE(plausible(count_cells(posterior, draws, count, 0, cells.size()), cells));
}

/// The counts of two coordinates, and what they would be if they were independent.
testing::AssertionResult independent(const std::vector<std::pair<std::int64_t, std::int64_t>>& pairs) {
  std::vector<std::int64_t> counts(4, 0);
  std::vector<double> a(2, 0), b(2, 0), expected(4);
  for (const auto& [s, t] : pairs) {
    ++counts[static_cast<std::size_t>(2 * s + t)];
    a[static_cast<std::size_t>(s)] += 1 / static_cast<double>(pairs.size());
    b[static_cast<std::size_t>(t)] += 1 / static_cast<double>(pairs.size());
  }
  for (std::size_t k = 0; k < 4; ++k) expected[k] = a[k / 2] * b[k % 2];
  return plausible(counts, expected);
}

TEST(Samples, OfSlicesAreIndependentGivenWhatTheyShare) {
  const Tree tree;
  const std::int64_t count = 100000;
  const Draws draws = sample(tree.plan, tree.operands, {.count = count, .seed = 9});
  const Integers &x = draws.at("x"), &y = draws.at("y"), &z = draws.at("z");
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  Pairs together, given[2], leaves[2], consecutive;
  for (std::int64_t s = 0; s < count; ++s) {
    together.emplace_back(y.at({s, 0}), y.at({s, 1}));
    given[x.at({s})].emplace_back(y.at({s, 0}), y.at({s, 1}));
    leaves[y.at({s, 0})].emplace_back(z.at({s, 0, 0}), z.at({s, 0, 1}));
    if (s > 0) consecutive.emplace_back(y.at({s - 1, 0}), y.at({s, 0}));
  }
  EXPECT_FALSE(independent(together)) << "x does not couple its slices";
  for (const int s : {0, 1}) {
    EXPECT_TRUE(independent(given[s])) << "y across slices of i, x = " << s;
    EXPECT_TRUE(independent(leaves[s])) << "z across slices of j, y = " << s;
  }
  EXPECT_TRUE(independent(consecutive)) << "of consecutive samples";
}

/// A draw as one list, variable by variable.
std::vector<std::int64_t> flat(const Draws& draws, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> result;
  for (const auto& [variable, states] : draws) {
    const std::int64_t count = states.shape[0];
    const std::int64_t each = count == 0 ? 0 : static_cast<std::int64_t>(states.values.size()) / count;
    result.insert(result.end(), states.values.begin() + first * each, states.values.begin() + last * each);
  }
  return result;
}

TEST(Samples, AreTheSameInAnyBatchesAndAnyThreads) {
  for_each_tractable(200, {.zero_percent = 3}, [](Drawn& drawn) -> testing::AssertionResult {
    oracle::Posterior posterior = drawn.posterior();
    if (any_zero(posterior.table({}), drawn.semiring)) return testing::AssertionSuccess();
    const auto ask = [&](std::int64_t first, std::int64_t count, int threads, std::uint64_t seed = 3) {
      return sample(drawn.plan, drawn.tensors(), {.count = count, .seed = seed, .first = first},
                    {.semiring = drawn.semiring, .threads = threads});
    };
    const Draws all = ask(0, 40, 1);
    for (const int threads : {2, 3, 8}) {
      if (ask(0, 40, threads) != all) return testing::AssertionFailure() << threads << " threads differ";
    }
    std::int64_t first = 0;
    for (const std::int64_t count : {0, 1, 2, 17, 20}) {
      const Draws part = ask(first, count, 1);
      if (count > 0 && flat(part, 0, count) != flat(all, first, first + count)) {
        return testing::AssertionFailure() << count << " samples from " << first << " differ";
      }
      first += count;
    }
    return testing::AssertionSuccess();
  });
}

TEST(Samples, OfTwoSeedsDiffer) {
  const Tree tree;
  const Draws a = sample(tree.plan, tree.operands, {.count = 50, .seed = 1});
  EXPECT_EQ(a, sample(tree.plan, tree.operands, {.count = 50, .seed = 1}));
  EXPECT_NE(a, sample(tree.plan, tree.operands, {.count = 50, .seed = 2}));
  EXPECT_NE(a, sample(tree.plan, tree.operands, {.count = 50, .seed = 1, .first = 50}));
}

TEST(Samples, AreDrawnFarIntoTheStream) {
  const Tree tree;
  const oracle::Posterior posterior(tree.graph, tree.operands, Semiring::log);
  const Draws draws = sample(tree.plan, tree.operands, {.count = 20000, .seed = ~0ULL, .first = 1LL << 40});
  const Numbers cells = posterior.cells(0);
  EXPECT_TRUE(plausible(count_cells(posterior, draws, 20000, 0, cells.size()), cells));
}

TEST(Samples, RefuseWhatMakesNoSense) {
  const Tensor t = Tensor::of<double>({2}, {1, 1});
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product, Semiring::boolean}) {
    EXPECT_THROW((void)sample("x->", {t}, {}, {.semiring = semiring}), OptionError);
  }
  EXPECT_THROW((void)sample("x->", {t}, {.count = -1}), Error);
  EXPECT_THROW((void)sample("x->", {t}, {.count = 1, .seed = 0, .first = -1}), Error);
  const double none = -std::numeric_limits<double>::infinity();
  EXPECT_THROW((void)sample("x->", {Tensor::of<double>({2}, {none, none})}, {}), ImpossibleError);
}

}  // namespace
}  // namespace plated::test
