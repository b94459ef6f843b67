// The search: quality where the optimum is known, budgets, and large networks.
#include "planner/order_search.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "planner/order_anneal.hpp"
#include "planner/order_reconfigure.hpp"
#include "planner/order_tree.hpp"
#include "unit/planner/order_networks.hpp"

namespace plated::planner {
namespace {

double seconds_of(const auto& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(OrderSearch, FindsTheOptimumOfNetworksJustBeyondIt) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Network network = testing::without_private_dims(testing::random_network(14, 12, 3, seed));
    const double best = log2_flops(network, contraction_order(network, {Strategy::optimal}));
    const double searched = log2_flops(network, contraction_order(network, {Strategy::search}));
    EXPECT_LE(searched, best + 0.05) << "seed " << seed;
    found += searched <= best + 1e-9 ? 1 : 0;
  }
  EXPECT_GE(found, 17);
}

TEST(OrderSearch, BeatsSingleStrategies) {
  const Network network = testing::grid(10, 10);
  const double searched = log2_flops(network, contraction_order(network));
  EXPECT_LT(searched, log2_flops(network, contraction_order(network, {Strategy::greedy})));
  EXPECT_LT(searched, log2_flops(network, contraction_order(network, {Strategy::min_fill})));
  // A sweep by rows costs about 2^11 for each of 100 variables.
  EXPECT_LT(searched, std::log2(100.0 * 2048));
}

TEST(OrderSearch, MoreTrialsAreNotWorse) {
  const Network network = testing::grid(9, 9);
  const double few = log2_flops(network, contraction_order(network, {.trials = 1}));
  const double many = log2_flops(network, contraction_order(network, {.trials = 128}));
  EXPECT_LE(many, few);
}

TEST(OrderSearch, TakesTheSeed) {
  const Network network = testing::grid(14, 14);
  const Tree a = contraction_order(network, {.trials = 8, .seed = 1});
  const Tree b = contraction_order(network, {.trials = 8, .seed = 2});
  EXPECT_NE(a.merges, b.merges);
}

TEST(OrderSearch, StopsByTheClockWhenAsked) {
  const Network network = testing::grid(14, 14);
  Tree tree;
  const double capped = seconds_of([&] { tree = contraction_order(network, {.trials = 1'000'000, .seconds = 0.05}); });
  EXPECT_TRUE(testing::is_valid(network, tree));
  // A million trials would take minutes; the slack is for sanitizers and busy machines.
  EXPECT_LT(capped, 5.0);
}

TEST(OrderSearch, SpendsTrialsInInverseProportionToSize) {
  EXPECT_EQ(affordable_trials(128, 10), 128);
  EXPECT_NEAR(affordable_trials(128, 20'000) * 20'000, affordable_trials(128, 4'000) * 4'000, 1e-6);
  EXPECT_EQ(affordable_trials(-1, 10), 0);
}

TEST(OrderSearch, OrdersTenThousandVariablesInARow) {
  const Network network = testing::row(10'000);
  Tree tree;
  const double seconds = seconds_of([&] { tree = contraction_order(network); });
  EXPECT_TRUE(testing::is_valid(network, tree));
  // A variable costs at most one merge with its unary and one with its neighbour, four operations each.
  EXPECT_LE(log2_flops(network, tree), std::log2(80'000.0));
  EXPECT_LE(log2_largest(network, tree), 2.0);
  EXPECT_LT(seconds, 5.0);
}

TEST(OrderSearch, OrdersALongLadder) {
  const Network network = testing::grid(2, 3'000);
  const Tree tree = contraction_order(network);
  EXPECT_TRUE(testing::is_valid(network, tree));
  EXPECT_LE(log2_largest(network, tree), 4.0);
}

/// The least elements in use at a time that any tree of a small network has: the best of each subset's splits.
double least_peak(const Network& network) {
  const std::size_t all = (std::size_t{1} << network.tensors.size()) - 1;
  const auto holds = [&](std::size_t set, std::uint32_t d) {
    for (std::size_t t = 0; t < network.tensors.size(); ++t) {
      const auto& dims = network.tensors[t];
      if ((set >> t & 1) != 0 && std::find(dims.begin(), dims.end(), d) != dims.end()) return true;
    }
    return false;
  };
  std::vector<double> own(all + 1, 0), peak(all + 1, 0);
  for (std::size_t set = 1; set <= all; ++set) {
    if ((set & (set - 1)) == 0) continue;  // given
    double log2 = 0;
    for (std::uint32_t d = 0; d < network.log2_size.size(); ++d) {
      if (holds(set, d) && holds(all ^ set, d)) log2 += network.log2_size[d];
    }
    own[set] = std::exp2(log2);
    peak[set] = std::numeric_limits<double>::infinity();
    for (std::size_t a = (set - 1) & set; a > 0; a = (a - 1) & set) {
      const std::size_t b = set ^ a;
      peak[set] = std::min(peak[set], std::max({peak[a], own[a] + peak[b], own[a] + own[b] + own[set]}));
    }
  }
  return std::log2(peak[all]);
}

TEST(OrderSearch, PrefersOrdersThatFit) {
  int improvable = 0;
  int least = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Network network = testing::without_private_dims(testing::random_network(8, 8, 3, seed));
    const Tree cheapest = contraction_order(network);
    const double peak = log2_peak(network, cheapest);
    EXPECT_EQ(contraction_order(network, {.log2_most = peak}).merges, cheapest.merges);
    const double possible = least_peak(network);
    EXPECT_LE(possible, peak + 1e-9);
    if (possible > peak - 1e-9) continue;
    ++improvable;
    const Tree fitting = contraction_order(network, {.log2_most = possible});
    ASSERT_TRUE(testing::is_valid(network, fitting));
    EXPECT_LE(log2_peak(network, fitting), peak) << "seed " << seed;
    least += log2_peak(network, fitting) < possible + 1e-9 ? 1 : 0;
  }
  EXPECT_GT(improvable, 10);
  EXPECT_EQ(least, improvable);
}

TEST(OrderReconfigure, NeverMakesATreeWorse) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Network network = testing::random_network(40, 40, 3, seed);
    const Tree before = contraction_order(network, {Strategy::greedy});
    OrderTree tree(network, before);
    reconfigure(tree, {.piece = 6, .max_pieces = 100}, Deadline(0));
    const Tree after = tree.to_tree();
    ASSERT_TRUE(testing::is_valid(network, after));
    EXPECT_LE(log2_flops(network, after), log2_flops(network, before) + 1e-9) << "seed " << seed;
    EXPECT_NEAR(std::log2(tree.total_flops()), log2_flops(network, after), 1e-9) << "seed " << seed;
  }
}

TEST(OrderReconfigure, SolvesATreeOfOnePieceToOptimality) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Network network = testing::random_network(9, 10, 3, seed);
    OrderTree tree(network, contraction_order(network, {Strategy::greedy}));
    reconfigure(tree, {.piece = 9, .max_pieces = 100}, Deadline(0));
    const double best = log2_flops(network, contraction_order(network, {Strategy::optimal}));
    EXPECT_NEAR(log2_flops(network, tree.to_tree()), best, 1e-9) << "seed " << seed;
  }
}

TEST(OrderAnneal, KeepsTheTreeAndItsPriceRight) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Network network = testing::random_network(40, 30, 4, seed);
    OrderTree tree(network, contraction_order(network, {Strategy::greedy}));
    base::Random random(seed);
    anneal(tree, {.moves = 5'000, .first_beta = 0.1, .last_beta = 4}, random, Deadline(0));
    const Tree after = tree.to_tree();
    ASSERT_TRUE(testing::is_valid(network, after));
    EXPECT_NEAR(std::log2(tree.total_flops()), log2_flops(network, after), 1e-9) << "seed " << seed;
  }
}

}  // namespace
}  // namespace plated::planner
