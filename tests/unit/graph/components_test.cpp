// Connected components: joined by variables and by nothing else.
#include <gtest/gtest.h>

#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using Factors = std::vector<std::size_t>;
using Dims = std::vector<DimId>;

TEST(Components, AreJoinedBySharedVariables) {
  const std::vector<std::vector<std::int64_t>> shapes{{2, 2}, {2}, {2, 2}, {2, 2}};
  const FactorGraph g = FactorGraph::from_equation("ab,d,ec,cb->", shapes);
  const auto components = g.components();
  ASSERT_EQ(components.size(), 2U);
  EXPECT_EQ(components[0].factors, (Factors{0, 2, 3}));
  EXPECT_EQ(components[0].variables, (Dims{0, 1, 3, 4}));
  EXPECT_EQ(components[1].factors, Factors{1});
  EXPECT_EQ(components[1].variables, Dims{2});
}

TEST(Components, PlatesAndBatchDimsJoinNothing) {
  const std::vector<std::vector<std::int64_t>> shapes{{3, 2, 2}, {3, 2, 2}};
  const FactorGraph g = FactorGraph::from_equation("nia,nib->", shapes, {.plates = "i", .batch = "n"});
  EXPECT_EQ(g.components().size(), 2U);
}

TEST(Components, FactorsWithoutVariablesStandAlone) {
  const std::vector<std::vector<std::int64_t>> shapes{{3}, {}, {3}};
  const FactorGraph g = FactorGraph::from_equation("i,,i->", shapes, {.plates = "i"});
  const auto components = g.components();
  ASSERT_EQ(components.size(), 3U);
  EXPECT_EQ(components[2].factors, Factors{2});
  EXPECT_TRUE(components[2].variables.empty());
}

TEST(Components, VariablesOfNoFactorAreListedLast) {
  FactorGraph g;
  g.variable("lonely", 2);
  g.variable("x", 2);
  g.variable("other", 2);
  g.factor("f", {"x"});
  const auto components = g.components();
  ASSERT_EQ(components.size(), 3U);
  EXPECT_EQ(components[0].factors, Factors{0});
  EXPECT_EQ(components[1].variables, Dims{0});
  EXPECT_TRUE(components[1].factors.empty());
  EXPECT_EQ(components[2].variables, Dims{2});
}

TEST(Components, OfAnEmptyGraphAreNone) { EXPECT_TRUE(FactorGraph().components().empty()); }

TEST(Components, OfALongChainInAnyOrderAreOne) {
  FactorGraph g;
  constexpr int length = 20000;
  const auto name = [](int k) { return std::string("v") += std::to_string(k); };
  for (int k = 0; k <= length; ++k) g.variable(name(k), 2);
  // A stride that is coprime to the length visits every link once, far from its neighbours.
  for (int k = 0; k < length; ++k) {
    const int link = static_cast<int>((static_cast<std::int64_t>(k) * 7919) % length);
    g.factor("", {name(link + 1), name(link)});
  }
  const auto components = g.components();
  ASSERT_EQ(components.size(), 1U);
  EXPECT_EQ(components[0].factors.size(), static_cast<std::size_t>(length));
  EXPECT_EQ(components[0].variables.size(), static_cast<std::size_t>(length) + 1);
}

}  // namespace
}  // namespace plated
