// The cost of a tree against a naive recount.
#include <gtest/gtest.h>

#include "unit/planner/order_networks.hpp"

namespace plated::planner {
namespace {

TEST(OrderCost, MatchesNaiveRecount) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Network network = testing::random_network(20, 15, 4, seed);
    const Tree tree = contraction_order(network, {Strategy::greedy});
    EXPECT_NEAR(log2_flops(network, tree), std::log2(testing::naive_flops(network, tree)), 1e-9) << "seed " << seed;
    testing::NaiveContraction contraction(network);
    double largest = 1;
    for (const auto& [a, b] : tree.merges) {
      contraction.merge(a, b);
      largest = std::max(largest, contraction.elements(contraction.size() - 1));
    }
    EXPECT_NEAR(log2_largest(network, tree), std::log2(largest), 1e-9) << "seed " << seed;
  }
}

TEST(OrderCost, CountsTheDimsOfBothOperandsOfAMatrixProduct) {
  const Network network{{1, 2, 3}, {{0, 1}, {1, 2}, {0, 2}}};
  // The product costs 2^(1+2+3) and leaves dims 0 and 2; the last merge costs 2^(1+3).
  EXPECT_NEAR(log2_flops(network, {{{0, 1}, {3, 2}}}), std::log2(64.0 + 16.0), 1e-12);
  EXPECT_NEAR(log2_largest(network, {{{0, 1}, {3, 2}}}), 4.0, 1e-12);
}

TEST(OrderCost, HoldsWhatIsInUseAtATime) {
  // Tensors are given, the product of the first two is held while that of the others is computed, and both for the
  // total.
  Network network{{1, 2, 3, 4}, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}};
  const Tree tree{{{0, 1}, {2, 3}, {4, 5}}};
  EXPECT_NEAR(log2_peak(network, tree), std::log2(16.0 + 16.0 + 1.0), 1e-12);
  network.sliced = {false, false, true, false};
  EXPECT_NEAR(log2_peak(network, tree), std::log2(2.0 + 2.0 + 1.0), 1e-12);
}

TEST(OrderCost, DoesNotOverflow) {
  Network network{{900, 900, 900}, {{0, 1}, {1, 2}, {0, 2}}};
  EXPECT_NEAR(log2_flops(network, {{{0, 1}, {3, 2}}}), 2700.0, 1e-9);
}

TEST(OrderCost, NoMergesCostNothing) {
  EXPECT_EQ(log2_flops({}, {}), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(log2_largest({}, {}), 0.0);
}

}  // namespace
}  // namespace plated::planner
