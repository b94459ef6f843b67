// Names outside of a chain: the first slice's variable or the last slice's.
#include <gtest/gtest.h>

#include "message_of.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using test::message_of;
using Strings = std::vector<std::string>;

/// A chain t with links a→b→c, one of its own slice's variables x, and a variable g outside of it.
FactorGraph order_two() {
  FactorGraph g;
  g.chain("t", 4);
  for (const char* name : {"a", "b", "c"}) g.variable(name, 3);
  g.variable("x", 5);
  g.variable("g", 2);
  g.link("t", "a", "b");
  g.link("t", "b", "c");
  g.factor("step", {"a", "b", "c"}, {.tied = {"t"}});
  g.factor("emission", {"t", "c", "x"});
  return g;
}
Strings names(const FactorGraph& g, const std::vector<DimId>& dims) {
  Strings result;
  for (const DimId d : dims) result.push_back(g.dims()[d].name);
  return result;
}
Strings held(FactorGraph g, const Strings& dims) { return names(g, g.factors()[g.factor("f", dims)].dims); }
Strings asked(FactorGraph g, const Strings& dims) { return names(g, g.outputs()[g.output(dims)].dims); }

TEST(Ends, InsideAChainNamesAreTheSlicesOwn) {
  EXPECT_EQ(names(order_two(), order_two().factors()[0].dims), (Strings{"a", "b", "c"}));
  EXPECT_EQ(held(order_two(), {"t", "c"}), (Strings{"t", "c"}));
  EXPECT_EQ(asked(order_two(), {"c", "t"}), (Strings{"c", "t"}));
}

TEST(Ends, OutsideABareSourceIsTheFirstAndABareTargetTheLast) {
  EXPECT_EQ(held(order_two(), {"a", "g"}), (Strings{"^a", "g"}));
  EXPECT_EQ(held(order_two(), {"c"}), Strings{"c$"});
  EXPECT_EQ(asked(order_two(), {"c", "a"}), (Strings{"c$", "^a"}));
}

TEST(Ends, OutsideBothEndsOfAnyLinkedVariableHaveNames) {
  EXPECT_EQ(held(order_two(), {"^b", last("a"), first("c"), "b$"}), (Strings{"^b", "a$", "^c", "b$"}));
  EXPECT_EQ(asked(order_two(), {"^b"}), Strings{"^b"});
}

TEST(Ends, ABareNameThatIsSourceAndTargetIsAmbiguous) {
  FactorGraph g = order_two();
  const std::string message = message_of<PlateError>([&] { g.factor("prior", {"a", "b"}); });
  EXPECT_SAYS(message, "variable 'b' in factor 'prior'");
  EXPECT_SAYS(message, "write '^b' or 'b$'");
  EXPECT_SAYS(message_of<PlateError>([&] { g.output({"b"}); }), "'b' in output 0");
}

TEST(Ends, AreDimsOfTheirVariablesDeclaredOnce) {
  FactorGraph g = order_two();
  EXPECT_FALSE(g.find("^a").has_value());
  g.factor("f", {"a"});
  g.factor("h", {"^a", "c"});
  ASSERT_TRUE(g.find("^a").has_value());
  const Dim& dim = g.dims()[*g.find("^a")];
  EXPECT_EQ(dim.kind, DimKind::variable);
  EXPECT_EQ(dim.size, 3);
  EXPECT_EQ(dim.end, End::first);
  EXPECT_EQ(dim.of, *g.find("a"));
  EXPECT_EQ(g.dims()[*g.find("c$")].end, End::last);
  EXPECT_EQ(g.dims()[*g.find("c$")].of, *g.find("c"));
  EXPECT_EQ(g.dims()[*g.find("c")].end, End::none);
  EXPECT_EQ(g.factors()[2].dims.front(), g.factors()[3].dims.front());
  EXPECT_EQ(g.dims().size(), 8U);
}

TEST(Ends, AreRefusedInsideTheirChain) {
  FactorGraph g = order_two();
  const std::string message = message_of<PlateError>([&] { g.factor("f", {"t", "^a"}); });
  EXPECT_SAYS(message, "'^a' in factor 'f', which is inside chain 't': write 'a'");
  EXPECT_SAYS(message_of<PlateError>([&] { g.factor("f", {"c$"}, {.tied = {"t"}}); }), "inside chain 't'");
  EXPECT_SAYS(message_of<PlateError>([&] { g.output({"c$", "t"}); }), "inside chain 't'");
}

TEST(Ends, OfAnUnlinkedVariableAreAllowedInItsOnlyChain) {
  FactorGraph g = order_two();
  g.factor("f", {"^x"});
  g.output({"x$"});
  EXPECT_NO_THROW(g.validate());
  EXPECT_EQ(g.dims()[*g.find("^x")].size, 5);
  g.factor("inside", {"t", "^x"});
  EXPECT_SAYS(message_of<PlateError>([&] { g.validate(); }), "factor 'inside' (t ^x) holds '^x' inside chain 't'");
}

TEST(Ends, OfAVariableInNoChainAreRefused) {
  FactorGraph g = order_two();
  g.factor("f", {"^g"});
  EXPECT_SAYS(message_of<PlateError>([&] { g.validate(); }), "'g' is in no chain: write 'g'");
  // A factor outside of the chain makes x one variable for all slices.
  FactorGraph shared = order_two();
  shared.factor("global", {"x"});
  shared.factor("f", {"^x"});
  EXPECT_SAYS(message_of<PlateError>([&] { shared.validate(); }), "'x' is in no chain");
}

TEST(Ends, OfAVariableInSeveralChainsAreRefusedUnlessItIsLinked) {
  FactorGraph g;
  g.chain("t", 2);
  g.chain("s", 2);
  for (const char* name : {"a", "b", "x"}) g.variable(name, 2);
  g.link("s", "a", "b");
  g.factor("step", {"t", "s", "a", "b", "x"});
  g.factor("start", {"t", "^a"});
  EXPECT_NO_THROW(g.validate());
  g.factor("f", {"^x"});
  const std::string message = message_of<PlateError>([&] { g.validate(); });
  EXPECT_SAYS(message, "in several chains, {'t', 's'}");
}

TEST(Ends, OfDimsThatAreNoVariablesAreRefused) {
  FactorGraph g = order_two();
  EXPECT_SAYS(message_of<PlateError>([&] { g.factor("f", {"^t"}); }), "'t' is a chain, and only variables");
  EXPECT_SAYS(message_of<ParseError>([&] { g.factor("f", {"^a$"}); }), "two ends at once");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.factor("f", {"^z"}); }), "unknown dim 'z' in factor 'f'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.factor("f", {"a"}, {.tied = {"^a"}}); }), "'^a'");
}

TEST(Ends, RepeatedInAFactorAreADiagonalAndInAnOutputAnError) {
  EXPECT_EQ(held(order_two(), {"a", "^a"}), (Strings{"^a", "^a"}));
  FactorGraph g = order_two();
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { g.output({"a", "^a"}); }), "'^a' is written twice");
}

TEST(Ends, OfWhatAFactorDistributesAreReadLikeItsAxes) {
  FactorGraph g = order_two();
  const std::size_t prior = g.factor("prior", {"a"}, {.distribution_of = "a"});
  EXPECT_EQ(g.factors()[prior].distribution_of, g.find("^a"));
  const std::size_t inside = g.factor("inside", {"t", "c"}, {.distribution_of = "c"});
  EXPECT_EQ(g.factors()[inside].distribution_of, g.find("c"));
  const std::size_t named = g.factor("named", {"^b"}, {.distribution_of = "^b"});
  EXPECT_EQ(g.factors()[named].distribution_of, g.find("^b"));
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.factor("f", {"a"}, {.distribution_of = "a$"}); }),
              "does not hold it");
}

TEST(Ends, FollowTheChainsOfTheFactorNotOfItsVariables) {
  // d is linked in s, which this factor is outside of, though it is inside of t.
  FactorGraph g;
  g.chain("t", 2);
  g.chain("s", 2);
  for (const char* name : {"a", "b", "d", "e"}) g.variable(name, 2);
  g.link("t", "a", "b");
  g.link("s", "d", "e");
  g.factor("f", {"t", "a", "d"});
  EXPECT_EQ(names(g, g.factors()[0].dims), (Strings{"t", "a", "^d"}));
}

}  // namespace
}  // namespace plated
