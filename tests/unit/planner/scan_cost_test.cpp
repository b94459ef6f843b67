// Costs and printed forms of plans of chains.
#include <gtest/gtest.h>

#include "plated/plan.hpp"

namespace plated {
namespace {

/// Parallel chains of 16 states that one factor of all their states joins, as in a factorial hidden Markov model.
FactorGraph factorial(int chains, std::int64_t slices) {
  FactorGraph g;
  g.chain("t", slices);
  std::vector<std::string> seen{"t"};
  for (int k = 0; k < chains; ++k) {
    const std::string source = "a" + std::to_string(k), target = "b" + std::to_string(k);
    g.variable(source, 16);
    g.variable(target, 16);
    g.link("t", source, target);
    seen.push_back(target);
  }
  for (int k = 0; k < chains; ++k) {
    const std::string source = "a" + std::to_string(k), target = "b" + std::to_string(k);
    g.factor("move " + std::to_string(k), {source, target}, {.tied = {"t"}});
  }
  g.factor("seen", seen);
  g.output({});
  return g;
}

TEST(ChainCost, OfAFactorialModelIsNeverThatOfItsJointMatrix) {
  const double slices = 1000;
  // A multiplication and an addition for each product, and what is seen: 2 · n · 16^(n+1) + O(16^n).
  const double two = compile(factorial(2, 1000)).cost().flops / slices;
  const double three = compile(factorial(3, 1000)).cost().flops / slices;
  EXPECT_GE(two, 2 * 2 * 4096 * 0.9);
  EXPECT_LE(two, 2 * 2 * 4096 * 1.2);
  EXPECT_GE(three, 2 * 3 * 65536 * 0.9);
  EXPECT_LE(three, 2 * 3 * 65536 * 1.2);
}

TEST(ChainCost, GrowsWithTheChainAndMemoryDoesNot) {
  const Cost little = compile(factorial(2, 100)).cost(), large = compile(factorial(2, 100000)).cost();
  EXPECT_NEAR(large.flops / little.flops, 1000, 1);
  EXPECT_EQ(large.peak_bytes, little.peak_bytes);
}

TEST(ChainCost, IsPrintedWithWhatWasChosen) {
  const std::string text = compile(factorial(2, 100)).print();
  for (const char* says :
       {"chain t = 100 slices", "links a0→b0, a1→b1", "slice after slice, from the ", "Scan{t}(", "SumProduct{"}) {
    EXPECT_NE(text.find(says), std::string::npos) << says << "\n" << text;
  }
}

}  // namespace
}  // namespace plated
