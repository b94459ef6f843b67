// Queries: every variable is answered once, and a part has the posterior of the whole.
#include "reduce/queries.hpp"

#include <gtest/gtest.h>

#include "plated/marginals.hpp"
#include "property/seeds.hpp"
#include "unit/reduce/random_network.hpp"

namespace plated::reduce {
namespace {

using test::for_each_seed;
using test::Random;

FactorGraph network(const std::vector<std::vector<std::string>>& families, std::int64_t states = 2) {
  FactorGraph graph;
  for (const auto& family : families) graph.variable(family.back(), states);
  for (const auto& family : families) graph.factor("", family, {.distribution_of = family.back()});
  graph.output({});
  return graph;
}

std::size_t factors_of(const std::vector<Query>& queries) {
  std::size_t count = 0;
  for (const Query& query : queries) count += query.factors.size();
  return count;
}

TEST(MarginalQueries, AskAnUndirectedGraphOnce) {
  FactorGraph graph;
  graph.variable("a", 2);
  graph.variable("b", 2);
  graph.factor("f", {"a", "b"});
  graph.output({});
  const auto queries = marginal_queries(graph, {}, 0);
  ASSERT_EQ(queries.size(), 1U);
  EXPECT_EQ(queries[0].variables, (std::vector<DimId>{0, 1}));
}

TEST(MarginalQueries, KeepOneSweepForAChainOfDistributions) {
  EXPECT_EQ(marginal_queries(network({{"a"}, {"a", "b"}, {"b", "c"}}), {}, 0).size(), 1U);
}

TEST(MarginalQueries, LeaveOutChildrenThatWouldJoinTheirManyParents) {
  // Twelve sinks, each of which couples a different triple of sixteen roots of thirty states: together they are a
  // network of large width, apart four variables each.
  std::vector<std::vector<std::string>> families;
  for (int r = 0; r < 16; ++r) families.push_back({"r" + std::to_string(r)});
  for (int s = 0; s < 12; ++s) {
    families.push_back({"r" + std::to_string(s), "r" + std::to_string((5 * s + 7) % 16),
                        "r" + std::to_string((3 * s + 2) % 16 == s ? 15 : (3 * s + 2) % 16), "s" + std::to_string(s)});
  }
  const auto queries = marginal_queries(network(families, 30));
  EXPECT_GT(queries.size(), 3U);
  double flops = 0;
  for (const Query& query : queries) flops += query.flops;
  EXPECT_LT(flops, 1e9);
}

TEST(MarginalQueries, CoverAVariableThatNoFactorHolds) {
  FactorGraph graph = network({{"a"}});
  graph.variable("lonely", 3);
  const auto queries = marginal_queries(graph, {}, 0);
  ASSERT_EQ(queries.size(), 1U);
  EXPECT_EQ(queries[0].variables.size(), 2U);
}

TEST(MarginalQueries, KeepObservedVariablesInEveryPartThatHoldsTheirParents) {
  const FactorGraph graph = network({{"a"}, {"b"}, {"a", "b", "c"}, {"a", "b", "d"}, {"a", "e"}}, 30);
  const std::vector<DimId> observed = {*graph.find("e")};
  std::vector<std::size_t> sizes;
  for (const Query& query : marginal_queries(graph, observed, 0)) {
    sizes.push_back(query.factors.size());
    EXPECT_EQ(query.factors.back(), 4U) << "the observed child of 'a'";
  }
  EXPECT_FALSE(sizes.empty());
}

TEST(QueryFor, LeavesOutWhatIsBarren) {
  const FactorGraph graph = network({{"a"}, {"a", "b"}, {"b", "c"}, {"a", "d"}});
  EXPECT_EQ(query_for(graph, {1}).factors, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(query_for(graph, {0, 2}).factors, (std::vector<std::size_t>{0, 1, 2}));
  const std::vector<DimId> observed = {3};
  EXPECT_EQ(query_for(graph, {1}, observed).factors, (std::vector<std::size_t>{0, 1, 3}));
}

TEST(MarginalQueries, GiveThePosteriorOfTheWhole) {
  std::size_t pruned = 0;
  for_each_seed(100, [&](std::uint64_t seed) -> testing::AssertionResult {
    Random random(seed);
    const Model model =
        in_space(test::random_network(random, {.variables = 12, .most_states = 9, .zero_percent = 0}), Space::log);
    const Marginals whole = marginals(compile(model.graph), model.factors);
    const auto queries = marginal_queries(model.graph, {}, 0);
    pruned += queries.size() > 1 && factors_of(queries) < queries.size() * model.factors.size() ? 1 : 0;
    std::size_t answered = 0;
    for (const Query& query : queries) {
      std::vector<Tensor> factors;
      for (const std::size_t f : query.factors) factors.push_back(model.factors[f]);
      const Marginals part = marginals(compile(query_graph(model.graph, query)), factors);
      for (const DimId v : query.variables) {
        ++answered;
        const std::string& name = model.graph.dims()[v].name;
        const std::vector<double> got = part.variables.at(name).values();
        const std::vector<double> want = whole.variables.at(name).values();
        for (std::size_t s = 0; s < want.size(); ++s) {
          if (std::abs(got[s] - want[s]) > 1e-12)
            return testing::AssertionFailure() << name << "\n" << model.graph.print();
        }
      }
    }
    if (answered != variables(model).size()) return testing::AssertionFailure() << model.graph.print();
    return testing::AssertionSuccess();
  });
  EXPECT_GT(pruned, 0U);
}

}  // namespace
}  // namespace plated::reduce
