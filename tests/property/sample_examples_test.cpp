// Joint samples of models by hand: chi-squared tests, independence, streams, and what has no samples.
#include <gtest/gtest.h>

#include "plated/error.hpp"
#include "plated/sample.hpp"
#include "property/count_samples.hpp"
#include "property/seeds.hpp"

namespace plated::test {
namespace {

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
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Draws draws = sample(tree.plan, tree.operands, {.count = count, .seed = seed});
    EXPECT_TRUE(plausible(posterior, draws, count)) << "seed " << seed;
  }
}

TEST(Samples, OfAWrongSamplerAreFound) {
  const Tree tree;
  const oracle::Posterior posterior(tree.graph, tree.operands, Semiring::log);
  const std::int64_t count = 4000;
  Draws draws = sample(tree.plan, tree.operands, {.count = count, .seed = 5});
  EXPECT_TRUE(plausible(posterior, draws, count));
  // Every variable keeps its marginal, but x no longer belongs to the sample that its y are in.
  std::vector<std::int64_t>& x = draws.at("x").values;
  std::rotate(x.begin(), x.begin() + 1, x.end());
  EXPECT_FALSE(plausible(posterior, draws, count));
  // A slight bias: of the draws with x = 1, one in ten becomes x = 0.
  draws = sample(tree.plan, tree.operands, {.count = count, .seed = 5});
  std::int64_t seen = 0;
  for (std::int64_t& s : draws.at("x").values) s = s == 1 && ++seen % 10 == 0 ? 0 : s;
  EXPECT_FALSE(plausible(posterior, draws, count));
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
  EXPECT_TRUE(plausible(posterior, draws, 20000));
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

/// Two states that change with probability 1/4 a slice: transitions of a long path are independent throws of a coin.
TEST(Samples, OfALongChainHaveItsTransitions) {
  const std::int64_t slices = 5000, count = 20;
  const double stay = std::log(0.75), change = std::log(0.25);
  const Tensor transition = Tensor::of<double>({2, 2}, {stay, change, change, stay});
  EinsumOptions options{.chains = {{"t", {"a->b"}}}, .sizes = {{"t", slices}}};
  const Draws draws = sample("(t) a b ->", {transition}, {.count = count, .seed = 8}, options);
  std::vector<std::int64_t> counts(4, 0), runs(4, 0);
  for (std::int64_t s = 0; s < count; ++s) {
    std::int64_t before = 0;
    for (std::int64_t t = 0; t < slices; ++t) {
      const std::int64_t a = draws.at("a").at({s, t}), b = draws.at("b").at({s, t});
      ASSERT_EQ(a, t > 0 ? draws.at("b").at({s, t - 1}) : a) << "sample " << s << " slice " << t;
      ++counts[static_cast<std::size_t>(2 * a + b)];
      const std::int64_t changed = a == b ? 0 : 1;
      if (t % 2 == 1) ++runs[static_cast<std::size_t>(2 * before + changed)];
      before = changed;
    }
  }
  EXPECT_TRUE(plausible(counts, std::vector<double>{0.375, 0.125, 0.125, 0.375}));
  EXPECT_TRUE(plausible(runs, std::vector<double>{0.5625, 0.1875, 0.1875, 0.0625}));
}

}  // namespace
}  // namespace plated::test
