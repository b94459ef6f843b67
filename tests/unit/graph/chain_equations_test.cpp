// Chains in equations: options, links, sizes and resolved names.
#include <gtest/gtest.h>

#include "message_of.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using test::message_of;
using Shapes = std::vector<std::vector<std::int64_t>>;
using Chains = std::map<std::string, std::vector<std::string>>;

FactorGraph graph(std::string_view equation, const Shapes& shapes, const EquationOptions& options) {
  return FactorGraph::from_equation(equation, shapes, options);
}
template <class Expected>
std::string error(std::string_view equation, const Shapes& shapes, const EquationOptions& options) {
  return message_of<Expected>([&] { (void)graph(equation, shapes, options); });
}
const Chains hmm{{"t", {"a->b"}}};

TEST(ChainEquation, ReadsAHiddenMarkovModel) {
  const FactorGraph g = graph("a, (t) a b, t b ->", {{3}, {3, 3}, {7, 3}}, {.chains = hmm});
  EXPECT_EQ(g.equation(), "^a, (t) a b, t b ->");
  EXPECT_EQ(g.dims()[*g.find("t")].kind, DimKind::chain);
  EXPECT_EQ(g.dims()[*g.find("t")].size, 7);
  ASSERT_EQ(g.chains().size(), 1U);
  EXPECT_EQ(g.chains()[0].links, (std::vector<Link>{{*g.find("a"), *g.find("b")}}));
  EXPECT_EQ(g.linking_chain(*g.find("b")), g.find("t"));
}

TEST(ChainEquation, ReadsCompactAndSpacedFormsAlike) {
  const Chains links{{"t", {" a -> b ", "b->c"}}};
  const Shapes shapes{{2, 2}, {2, 2, 2}, {5, 2}};
  EXPECT_EQ(graph("a^b,(t)abc,tc->c$,tb", shapes, {.chains = links}).equation(), "^a ^b, (t) a b c, t c -> c$, t b");
  EXPECT_EQ(graph("a ^b, (t) a b c, t c -> c, t b", shapes, {.chains = links}).equation(),
            "^a ^b, (t) a b c, t c -> c$, t b");
  EXPECT_EQ(graph("state, time state next ->", {{2}, {4, 2, 2}}, {.chains = {{"time", {"state->next"}}}}).equation(),
            "^state, time state next ->");
}

TEST(ChainEquation, OutputsAreInsideOrOutsideOfTheChain) {
  const FactorGraph g = graph("a,tab->tb,b,a,t", {{2}, {4, 2, 2}}, {.chains = hmm});
  EXPECT_EQ(g.equation(), "^a, t a b -> t b, b$, ^a, t");
}

TEST(ChainEquation, EndsShareTheSizesOfTheirVariables) {
  // Nothing but the end tells the size of c, and a link tells that of b.
  const FactorGraph g = graph("^a,c$,tx->b$", {{3}, {3}, {4, 2}}, {.chains = {{"t", {"a->b", "b->c"}}}});
  for (const char* name : {"a", "^a", "b", "b$", "c", "c$"}) EXPECT_EQ(g.dims()[*g.find(name)].size, 3) << name;
}

TEST(ChainEquation, SizesThatDisagreeAreNamed) {
  const std::string message = error<SizeError>("a,tab->", {{3}, {7, 2, 2}}, {.chains = hmm});
  EXPECT_SAYS(message, "dim 'a' has two sizes: 3 on axis 0 of operand 0 \"a\" and 2 on axis 1 of operand 1 \"tab\"");
  EXPECT_SAYS(error<SizeError>("^a,tab->", {{3}, {7, 2, 2}}, {.chains = hmm}), "operand 0 \"^a\"");
  const std::string linked = error<SizeError>("a,tab->", {{2}, {7, 2, 5}}, {.chains = hmm});
  EXPECT_SAYS(linked, "'a' and 'b'");
  EXPECT_SAYS(linked, "2 and 5");
}

TEST(ChainEquation, ALinkedVariableThatOnlyAnOutputHoldsHasItsPartnersSize) {
  const FactorGraph g = graph("tb->a", {{4, 3}}, {.chains = hmm});
  EXPECT_EQ(g.dims()[*g.find("a")].size, 3);
  EXPECT_EQ(g.equation(), "t b -> ^a");
}

TEST(ChainEquation, AChainThatIsOnlyTiedNeedsItsSize) {
  EXPECT_SAYS(error<SizeError>("a,(t)ab->", {{2}, {2, 2}}, {.chains = hmm}), "give it in 'sizes'");
  EXPECT_NO_THROW((void)graph("a,(t)ab->", {{2}, {2, 2}}, {.chains = hmm, .sizes = {{"t", 4}}}));
  EXPECT_SAYS(error<UnknownNameError>("a,tab->", {{2}, {3, 2, 2}}, {.chains = hmm, .sizes = {{"^a", 2}}}),
              "'^a' in 'sizes' is not in the equation");
}

TEST(ChainEquation, RefusesLinksOfNamesThatAreNotInTheEquation) {
  const std::string message = error<UnknownNameError>("a,tab->", {{2}, {4, 2, 2}}, {.chains = {{"t", {"a->c"}}}});
  EXPECT_SAYS(message, "'c' in link 'a->c' of chain 't' is not in the equation");
  EXPECT_SAYS(error<UnknownNameError>("ab->", {{2, 2}}, {.chains = hmm}), "'t' in 'chains' is not in the equation");
}

TEST(ChainEquation, RefusesBadText) {
  EXPECT_SAYS(error<ParseError>("a,tab->", {{2}, {4, 2, 2}}, {.chains = {{"t", {"a b"}}}}), "'->' is missing here");
  EXPECT_SAYS(error<ParseError>("a,tab->", {{2}, {4, 2, 2}}, {.chains = {{"time", {"a->b"}}}}),
              "'time' in 'chains' is not one name (read as compact");
  EXPECT_SAYS(error<ParseError>("a,tab->", {{2}, {4, 2, 2}}, {.chains = {{"", {"a->b"}}}}), "is not one name");
  EXPECT_SAYS(error<ParseError>("a,tab->", {{2}, {4, 2, 2}}, {.chains = {{"^t", {"a->b"}}}}), "reserved");
  EXPECT_SAYS(error<ParseError>("a,tab->", {{2}, {4, 2, 2}}, {.plates = "^t"}), "reserved");
  EXPECT_SAYS(error<ParseError>("a,tab->", {{2}, {4, 2, 2}}, {.batch = "t$"}), "reserved");
}

TEST(ChainEquation, RefusesADimOfTwoKinds) {
  EXPECT_SAYS(error<DuplicateNameError>("a,tab->", {{2}, {4, 2, 2}}, {.plates = "t", .chains = hmm}),
              "'t' is in both 'plates' and 'chains'");
  EXPECT_SAYS(error<DuplicateNameError>("a,tab->", {{2}, {4, 2, 2}}, {.batch = "t", .chains = hmm}),
              "'t' is in both 'batch' and 'chains'");
  EXPECT_SAYS(error<DuplicateNameError>("a,tab->", {{2}, {4, 2, 2}}, {.chains = {{"t", {}}, {" t", {}}}}),
              "'t' is listed twice in 'chains'");
}

TEST(ChainEquation, PassesTheRulesOfLinksOn) {
  EXPECT_SAYS(error<PlateError>("tab->", {{4, 2, 2}}, {.chains = {{"t", {"a->b", "b->a"}}}}), "cycle");
  EXPECT_SAYS(error<PlateError>("stabc->", {{3, 4, 2, 2, 2}}, {.chains = {{"s", {"b->c"}}, {"t", {"a->b"}}}}),
              "variable 'b' is linked in chain 's' already");
}

TEST(ChainEquation, ErrorsAboutEndsShowTheOperand) {
  const Chains links{{"t", {"a->b", "b->c"}}};
  EXPECT_SAYS(error<PlateError>("ab,tabc->", {{2, 2}, {4, 2, 2, 2}}, {.chains = links}),
              "variable 'b' in operand 0 \"ab\"");
  EXPECT_SAYS(error<PlateError>("t^a,tabc->", {{4, 2}, {4, 2, 2, 2}}, {.chains = links}), "operand 0 \"t^a\"");
  EXPECT_SAYS(error<PlateError>("tabc->b", {{4, 2, 2, 2}}, {.chains = links}), "output 0 \"b\"");
  EXPECT_SAYS(error<PlateError>("^i,tabci->", {{3}, {4, 2, 2, 2, 3}}, {.plates = "i", .chains = links}),
              "'i' is a plate");
}

TEST(ChainEquation, AChainWithoutLinksIsAPlate) {
  const FactorGraph g = graph("x,txy->ty", {{2}, {4, 2, 3}}, {.chains = {{"t", {}}}});
  EXPECT_EQ(g.variable_plates()[*g.find("y")], std::vector<DimId>{*g.find("t")});
  EXPECT_TRUE(g.variable_plates()[*g.find("x")].empty());
  ASSERT_EQ(g.chains().size(), 1U);
  EXPECT_TRUE(g.chains()[0].links.empty());
}

TEST(ChainEquation, PrintsLinksAndReadsBack) {
  const Chains links{{"t", {"a->b", "b->c"}}};
  const FactorGraph g = graph("n a ^b, n (t) a b c, n t c -> n c, t n c", {{4, 2, 2}, {4, 2, 2, 2}, {4, 7, 2}},
                              {.plates = "n", .chains = links});
  EXPECT_EQ(
      g.print(),
      "plates\n  n  4\n"
      "chains\n  t  7  a->b, b->c\n"
      "variables\n  a   2  in n t\n  b   2  in n t\n  c   2  in n t\n  ^a  2  in n\n  ^b  2  in n\n  c$  2  in n\n"
      "factors\n  f0  n ^a ^b\n  f1  (t) n a b c\n  f2  n t c\n"
      "outputs\n  n c$\n  t n c\n");
  const FactorGraph back = graph(g.equation(), {{4, 2, 2}, {4, 2, 2, 2}, {4, 7, 2}}, {.plates = "n", .chains = links});
  EXPECT_EQ(back.print(), g.print());
}

}  // namespace
}  // namespace plated
