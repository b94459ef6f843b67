// Chains in the builder: declarations and links.
#include <gtest/gtest.h>

#include <chrono>

#include "message_of.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using test::message_of;

/// Chains t and s, a plate i, and variables a, b, c, d of two states.
FactorGraph declared() {
  FactorGraph g;
  g.chain("t", 5);
  g.chain("s", 3);
  g.plate("i", 2);
  for (const char* name : {"a", "b", "c", "d"}) g.variable(name, 2);
  return g;
}

TEST(Chain, IsADimWithItsLinks) {
  FactorGraph g = declared();
  g.link("t", "a", "b");
  g.link("t", "b", "c");
  const DimId t = *g.find("t");
  EXPECT_EQ(g.dims()[t].kind, DimKind::chain);
  EXPECT_EQ(g.dims()[t].size, 5);
  ASSERT_EQ(g.chains().size(), 2U);
  EXPECT_EQ(g.chains()[0].dim, t);
  EXPECT_EQ(g.chains()[0].links, (std::vector<Link>{{*g.find("a"), *g.find("b")}, {*g.find("b"), *g.find("c")}}));
  EXPECT_TRUE(g.chains()[1].links.empty());
  for (const char* linked : {"a", "b", "c"}) EXPECT_EQ(g.linking_chain(*g.find(linked)), t);
  EXPECT_FALSE(g.linking_chain(*g.find("d")).has_value());
  EXPECT_FALSE(g.linking_chain(t).has_value());
  EXPECT_TRUE(has_slices(DimKind::chain));
  EXPECT_TRUE(has_slices(DimKind::plate));
  EXPECT_FALSE(has_slices(DimKind::batch));
  EXPECT_FALSE(has_slices(DimKind::variable));
}

TEST(Chain, FollowsTheRulesOfDims) {
  FactorGraph g = declared();
  EXPECT_THROW(g.chain("a", 2), DuplicateNameError);
  EXPECT_THROW(g.chain("u", -1), SizeError);
  EXPECT_THROW(g.chain("^u", 1), ParseError);
  EXPECT_THROW(g.variable("u$", 1), ParseError);
  EXPECT_THROW(g.variable("^u", 1), ParseError);
}

TEST(Chain, EndsHaveNames) {
  EXPECT_EQ(first("a"), "^a");
  EXPECT_EQ(last("state"), "state$");
}

TEST(Link, RefusesNamesThatAreNotThere) {
  FactorGraph g = declared();
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.link("u", "a", "b"); }), "no chain 'u' to link 'a->b' in");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.link("t", "x", "b"); }),
              "unknown variable 'x' in link 'x->b' of chain 't'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.link("t", "a", "y"); }), "unknown variable 'y'");
}

TEST(Link, JoinsVariablesInChainsAndNothingElse) {
  FactorGraph g = declared();
  EXPECT_SAYS(message_of<PlateError>([&] { g.link("i", "a", "b"); }), "'i' is not a chain but a plate");
  EXPECT_SAYS(message_of<PlateError>([&] { g.link("a", "a", "b"); }), "'a' is not a chain but a variable");
  EXPECT_SAYS(message_of<PlateError>([&] { g.link("t", "i", "b"); }), "'i' in link 'i->b' of chain 't'");
  EXPECT_SAYS(message_of<PlateError>([&] { g.link("t", "a", "s"); }), "is not a variable but a chain");
  EXPECT_TRUE(g.chains()[0].links.empty());
}

TEST(Link, RefusesVariablesOfDifferentSizes) {
  FactorGraph g = declared();
  g.variable("wide", 7);
  const std::string message = message_of<SizeError>([&] { g.link("t", "a", "wide"); });
  EXPECT_SAYS(message, "'a' and 'wide'");
  EXPECT_SAYS(message, "2 and 7");
}

TEST(Link, RefusesASecondLinkFromOrToAVariable) {
  FactorGraph g = declared();
  g.link("t", "a", "b");
  EXPECT_SAYS(message_of<PlateError>([&] { g.link("t", "a", "c"); }), "'a' is linked to 'b' already");
  EXPECT_SAYS(message_of<PlateError>([&] { g.link("t", "c", "b"); }), "'b' has 'a' linked to it already");
  EXPECT_SAYS(message_of<PlateError>([&] { g.link("t", "a", "b"); }), "already");
  EXPECT_EQ(g.chains()[0].links.size(), 1U);
}

TEST(Link, RefusesASecondChain) {
  FactorGraph g = declared();
  g.link("t", "a", "b");
  const std::string message = message_of<PlateError>([&] { g.link("s", "b", "c"); });
  EXPECT_SAYS(message, "variable 'b' is linked in chain 't' already");
  EXPECT_NO_THROW(g.link("s", "c", "d"));
}

TEST(Link, RefusesCircles) {
  FactorGraph g = declared();
  EXPECT_SAYS(message_of<PlateError>([&] { g.link("t", "a", "a"); }), "cycle");
  g.link("t", "a", "b");
  EXPECT_SAYS(message_of<PlateError>([&] { g.link("t", "b", "a"); }), "link 'b->a' of chain 't' closes a cycle");
  g.link("t", "b", "c");
  EXPECT_SAYS(message_of<PlateError>([&] { g.link("t", "c", "a"); }), "cycle");
}

TEST(Link, ComesBeforeFactorsAndOutputs) {
  FactorGraph with_factor = declared(), with_output = declared();
  with_factor.factor("f", {"a"});
  with_output.output({});
  for (FactorGraph* g : {&with_factor, &with_output}) {
    EXPECT_SAYS(message_of<PlateError>([&] { g->link("t", "a", "b"); }), "declared after a factor or output");
  }
}

TEST(Link, OfTenThousandsIsQuick) {
  FactorGraph g;
  g.chain("t", 3);
  const auto name = [](int k) { return std::string("v") += std::to_string(k); };
  for (int k = 0; k < 20000; ++k) g.variable(name(k), 2);
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < 20000; k += 2) g.link("t", name(k), name(k + 1));
  for (int k = 0; k < 20000; k += 2) g.factor("", {name(k)});
  EXPECT_EQ(g.variable_plates()[*g.find(name(1))], std::vector<DimId>{*g.find("t")});
  // About 30 ms; a scan of all links for each name would take several seconds.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace plated
