// Every strategy on every shape of network: valid trees, the same each time.
#include <gtest/gtest.h>

#include <string>

#include "unit/planner/order_networks.hpp"

namespace plated::planner {
namespace {

constexpr Strategy strategies[] = {Strategy::automatic, Strategy::optimal, Strategy::greedy, Strategy::min_fill,
                                   Strategy::search};

class OrderStrategies : public ::testing::TestWithParam<Strategy> {
 protected:
  static Tree checked(const Network& network, OrderOptions options = {}) {
    options.strategy = GetParam();
    Tree tree = contraction_order(network, options);
    EXPECT_TRUE(testing::is_valid(network, tree));
    return tree;
  }
};

TEST_P(OrderStrategies, HandleRandomNetworks) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    checked(
        testing::random_network(static_cast<std::uint32_t>(2 + seed), static_cast<std::uint32_t>(1 + seed), 4, seed),
        {.trials = 16});
  }
}

TEST_P(OrderStrategies, HandleTheSmallest) {
  checked({});
  checked({{1}, {{0}}});
  checked({{}, {{}}});
  checked({{1, 2}, {{0}, {0, 1}}});
  checked({{}, {{}, {}}});
}

TEST_P(OrderStrategies, HandleScalarsAlone) { checked({{}, std::vector<std::vector<std::uint32_t>>(40)}); }

TEST_P(OrderStrategies, HandleDuplicates) {
  const Network network{{1, 1, 1}, std::vector<std::vector<std::uint32_t>>(50, {0, 1, 2})};
  const Tree tree = checked(network);
  EXPECT_NEAR(log2_flops(network, tree), std::log2(49 * 8.0), 1e-9);
}

TEST_P(OrderStrategies, NeverJoinComponentsBeforeTheyAreSummed) {
  // Two grids side by side cost as much as twice one, and one more merge.
  const Network one = testing::grid(4, 4);
  Network two = one;
  two.log2_size.insert(two.log2_size.end(), one.log2_size.begin(), one.log2_size.end());
  for (std::vector<std::uint32_t> dims : one.tensors) {
    for (std::uint32_t& d : dims) d += 16;
    two.tensors.push_back(dims);
  }
  const double single = testing::naive_flops(one, checked(one));
  EXPECT_NEAR(testing::naive_flops(two, checked(two)), 2 * single + 1, 1e-6);
}

TEST_P(OrderStrategies, KeepLoneTensorsApart) {
  // Thirty vectors that share nothing: only the first merge may see two dims at once.
  Network network;
  for (std::uint32_t d = 0; d < 30; ++d) {
    network.log2_size.push_back(4);
    network.tensors.push_back({d});
  }
  EXPECT_NEAR(testing::naive_flops(network, checked(network)), 256.0 + 28 * 16.0, 1e-6);
}

TEST_P(OrderStrategies, SumTheRaysOfAStarOneByOne) {
  Network network;
  network.log2_size.assign(2001, 2.0);
  for (std::uint32_t ray = 1; ray <= 2000; ++ray) {
    network.tensors.push_back({ray});
    network.tensors.push_back({0, ray});
  }
  // Each ray costs 16 to sum and 4 to multiply into the hub.
  EXPECT_LE(testing::naive_flops(network, checked({{2.0, 2.0}, {{0, 1}, {1}}})), 16.0);
  EXPECT_LE(log2_flops(network, checked(network)), std::log2(2000 * 16.0 + 1999 * 4.0) + 1e-9);
}

TEST_P(OrderStrategies, AreDeterministic) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Network network = testing::random_network(60, 50, 3, seed);
    const OrderOptions options{.trials = 24, .seed = seed};
    EXPECT_EQ(checked(network, options).merges, checked(network, options).merges) << "seed " << seed;
  }
}

TEST_P(OrderStrategies, SurviveAstronomicalSizes) {
  Network network = testing::grid(6, 6);
  for (double& size : network.log2_size) size = 250;
  const double cost = log2_flops(network, checked(network, {.trials = 16}));
  EXPECT_TRUE(std::isfinite(cost));
  EXPECT_LT(cost, 250.0 * 36);
}

std::string name_of(const ::testing::TestParamInfo<Strategy>& strategy) {
  constexpr const char* names[] = {"Automatic", "Optimal", "Greedy", "MinFill", "Search"};
  return names[static_cast<int>(strategy.param)];
}

INSTANTIATE_TEST_SUITE_P(All, OrderStrategies, ::testing::ValuesIn(strategies), name_of);

}  // namespace
}  // namespace plated::planner
