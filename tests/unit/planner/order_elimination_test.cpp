// Elimination sequences: min-fill against a naive recount, sweeps against their guarantees.
#include "planner/order_elimination.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/order_min_fill.hpp"
#include "planner/order_sweep.hpp"
#include "unit/planner/order_networks.hpp"

namespace plated::planner {
namespace {

/// Weight of the edges that a dim's elimination adds, pair by pair.
double naive_score(const std::vector<std::set<std::uint32_t>>& near, std::uint32_t d, const Network& network,
                   EliminationRule rule) {
  double score = rule == EliminationRule::size ? network.log2_size[d] : 0.0;
  for (const std::uint32_t a : near[d]) {
    if (rule == EliminationRule::size) score += network.log2_size[a];
    for (const std::uint32_t b : near[d]) {
      if (rule == EliminationRule::size || a >= b || near[a].contains(b)) continue;
      score += rule == EliminationRule::fill ? 1.0 : network.log2_size[a] * network.log2_size[b];
    }
  }
  return score;
}

class EliminationRules : public ::testing::TestWithParam<EliminationRule> {};

TEST_P(EliminationRules, TakeADimOfLeastScoreAtEveryStep) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Network network = testing::random_network(50, 30, 4, seed);
    const DimGraph graph(network);
    std::vector<std::set<std::uint32_t>> near(30);
    for (std::uint32_t d = 0; d < 30; ++d) near[d] = {graph.neighbours[d].begin(), graph.neighbours[d].end()};
    base::Random random(seed);
    const std::vector<std::uint32_t> order = min_fill_order(graph, {GetParam(), 0}, random);
    std::set<std::uint32_t> left(graph.used.begin(), graph.used.end());
    ASSERT_EQ(order.size(), left.size());
    for (const std::uint32_t d : order) {
      ASSERT_TRUE(left.contains(d));
      for (const std::uint32_t other : left) {
        ASSERT_LE(naive_score(near, d, network, GetParam()), naive_score(near, other, network, GetParam()) + 1e-9);
      }
      left.erase(d);
      for (const std::uint32_t a : near[d]) {
        near[a].insert(near[d].begin(), near[d].end());
        near[a].erase(a);
        near[a].erase(d);
      }
    }
  }
}

TEST_P(EliminationRules, WithNoiseStillEliminateEveryDim) {
  const DimGraph graph(testing::random_network(50, 30, 4, 7));
  base::Random random(7);
  std::vector<std::uint32_t> order = min_fill_order(graph, {GetParam(), 0.5}, random);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, graph.used);
}

INSTANTIATE_TEST_SUITE_P(All, EliminationRules,
                         ::testing::Values(EliminationRule::fill, EliminationRule::weighted_fill,
                                           EliminationRule::size));

TEST(Sweeps, VisitEveryDimOfEveryComponentOnce) {
  const DimGraph graph(testing::random_network(30, 60, 3, 3));
  for (const SweepRule rule : {SweepRule::breadth, SweepRule::front}) {
    std::vector<std::uint32_t> order = sweep_order(graph, graph.used.front(), rule);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, graph.used);
  }
}

TEST(Sweeps, CrossAStripWithTablesOfItsWidth) {
  const Network network = testing::grid(6, 40);
  const DimGraph graph(network);
  EXPECT_TRUE(peripheral_dim(graph, 100) % 40 == 0 || peripheral_dim(graph, 100) % 40 == 39);
  for (const SweepRule rule : {SweepRule::breadth, SweepRule::front}) {
    LiveNetwork live(network);
    eliminate_in_order(live, sweep_order(graph, peripheral_dim(graph, 100), rule));
    EXPECT_LE(log2_largest(network, live.tree()), 8.0);
  }
}

TEST(Elimination, MergesNothingTwice) {
  const Network network = testing::random_network(40, 25, 4, 11);
  const DimGraph graph(network);
  LiveNetwork live(network);
  eliminate_in_order(live, graph.used);
  EXPECT_TRUE(testing::is_valid(network, live.tree()));
  EXPECT_NEAR(live.log2_flops(), log2_flops(network, live.tree()), 1e-12);
}

}  // namespace
}  // namespace plated::planner
