// Dynamic programming against brute force.
#include "planner/order_optimal.hpp"

#include <gtest/gtest.h>

#include "unit/planner/order_networks.hpp"

namespace plated::planner {
namespace {

TEST(OrderOptimal, EqualsBruteForceOnSmallNetworks) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const auto tensors = static_cast<std::uint32_t>(1 + seed % 6);
    const Network network = testing::random_network(tensors, 6, 3, seed);
    const std::optional<Tree> tree = optimal_order(network, 12);
    ASSERT_TRUE(tree && testing::is_valid(network, *tree)) << "seed " << seed;
    EXPECT_NEAR(testing::naive_flops(network, *tree), testing::brute_force_flops(testing::NaiveContraction(network)),
                1e-6)
        << "seed " << seed;
  }
}

TEST(OrderOptimal, TakesAnOuterProductWhereItIsCheapest) {
  // Merging the two vectors first costs 2·2, less than dragging the large dim through two merges.
  const Network network{{1, 1, 10}, {{0}, {1}, {0, 1, 2}, {2}}};
  const std::optional<Tree> tree = optimal_order(network, 12);
  ASSERT_TRUE(tree);
  EXPECT_NEAR(testing::naive_flops(network, *tree), testing::brute_force_flops(testing::NaiveContraction(network)),
              1e-6);
  EXPECT_LT(testing::naive_flops(network, *tree), testing::naive_flops(network, {{{0, 2}, {1, 4}, {3, 5}}}));
}

TEST(OrderOptimal, DeclinesBeyondItsLimit) {
  EXPECT_FALSE(optimal_order(testing::row(7), 12));
  EXPECT_TRUE(optimal_order(testing::row(6), 12));
}

TEST(OrderOptimal, NoStrategyBeatsIt) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Network network = testing::random_network(10, 12, 4, seed);
    const double best = log2_flops(network, contraction_order(network, {Strategy::optimal}));
    for (const Strategy strategy : {Strategy::greedy, Strategy::min_fill, Strategy::search, Strategy::automatic}) {
      EXPECT_GE(log2_flops(network, contraction_order(network, {strategy})), best - 1e-9) << "seed " << seed;
    }
  }
}

TEST(OrderOptimal, ManyDimsOfTheSameTensorsAreOneClass) {
  Network network{std::vector<double>(300, 0.01), {{}, {}, {}}};
  for (std::uint32_t d = 0; d < 300; ++d) {
    network.tensors[d % 3].push_back(d);
    network.tensors[(d + 1) % 3].push_back(d);
  }
  for (auto& dims : network.tensors) std::sort(dims.begin(), dims.end());
  EXPECT_TRUE(optimal_order(network, 12));
}

}  // namespace
}  // namespace plated::planner
