// P(v) of linked variables and of ends: shared plates, stated plates, and errors where they disagree.
#include <gtest/gtest.h>

#include "compact_graph.hpp"
#include "message_of.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using test::compact_graph;
using test::message_of;
using test::plates_of;
using Chains = std::map<std::string, std::vector<std::string>>;
const Chains hmm{{"t", {"a->b"}}};
const Chains order_two{{"t", {"a->b", "b->c"}}};

std::string error(std::string_view equation, const EquationOptions& options) {
  return message_of<PlateError>([&] { (void)compact_graph(equation, options); });
}

TEST(LinkedPlates, HoldTheChainWhateverOtherFactorsHoldThem) {
  const FactorGraph g = compact_graph("a,(t)ab,tb,b->", {.chains = hmm});
  EXPECT_EQ(plates_of(g, "a"), "t");
  EXPECT_EQ(plates_of(g, "b"), "t");
  EXPECT_EQ(plates_of(g, "^a"), "");
  EXPECT_EQ(plates_of(g, "b$"), "");
}

TEST(LinkedPlates, AreSharedWithPartnersThatNoFactorInTheChainHolds) {
  EXPECT_EQ(plates_of(compact_graph("ntb->na", {.plates = "n", .chains = hmm}), "a"), "nt");
  const FactorGraph g = compact_graph("na,ntb->", {.plates = "n", .chains = hmm});
  EXPECT_EQ(plates_of(g, "a"), "nt");
  EXPECT_EQ(plates_of(g, "^a"), "n");
}

TEST(LinkedPlates, AreTheLargestSetWhereNoFactorInTheChainHoldsAnyOfThem) {
  EXPECT_EQ(plates_of(compact_graph("a,b,tx->", {.chains = hmm}), "a"), "t");
  EXPECT_EQ(plates_of(compact_graph("na,nb,tx->", {.plates = "n", .chains = hmm}), "b"), "nt");
  EXPECT_EQ(plates_of(compact_graph("na,b,tx->", {.plates = "n", .chains = hmm}), "b"), "t");
  EXPECT_EQ(plates_of(compact_graph("na,b,tx->", {.plates = "n", .chains = hmm}), "^a"), "");
  FactorGraph bare;
  bare.chain("t", 2);
  bare.variable("a", 2);
  bare.variable("b", 2);
  bare.link("t", "a", "b");
  EXPECT_EQ(plates_of(bare, "a"), "t");
}

TEST(LinkedPlates, ThatDisagreeSuggestATiedDim) {
  const std::string message = error("ta,ntb->", {.plates = "n", .chains = hmm});
  EXPECT_SAYS(message, "variables 'a' and 'b' are linked in chain 't'");
  EXPECT_SAYS(message, "{'t'} and {'t', 'n'}");
  EXPECT_SAYS(message, "write '(n) t a'");
  EXPECT_EQ(plates_of(compact_graph("(n)ta,ntb->", {.plates = "n", .chains = hmm}), "a"), "nt");
  EXPECT_SAYS(error("ntab,(t)b->", {.plates = "n", .chains = hmm}), "write '(n t) b'");
}

TEST(LinkedPlates, ShrinkTogether) {
  EXPECT_EQ(plates_of(compact_graph("a,(t)ab,ntb->", {.plates = "n", .chains = hmm}), "b"), "t");
  EXPECT_EQ(plates_of(compact_graph("a,(t)ab,ntb->", {.plates = "n", .chains = hmm}), "a"), "t");
}

TEST(LinkedPlates, FactorsAtTheEndsSuggestATiedDim) {
  const std::string message = error("a,ntab->", {.plates = "n", .chains = hmm});
  EXPECT_SAYS(message, "factor 'f0' (^a) holds variable '^a' outside of plate 'n'");
  EXPECT_SAYS(message, "write '(n) ^a'");
  EXPECT_EQ(plates_of(compact_graph("(n)a,ntab->", {.plates = "n", .chains = hmm}), "^a"), "n");
  EXPECT_EQ(plates_of(compact_graph("nma,ntab->", {.plates = "nm", .chains = hmm}), "^a"), "n");
}

TEST(LinkedPlates, AreNotShrunkByOutputs) {
  EXPECT_SAYS(error("na,ntab->b", {.plates = "n", .chains = hmm}),
              "output \"b$\" holds variable 'b$' outside of plate");
  EXPECT_SAYS(error("na,ntab->b", {.plates = "n", .chains = hmm}), "write 'n b$'");
  EXPECT_SAYS(error("na,ntab->tb", {.plates = "n", .chains = hmm}), "write 'n t b'");
  EXPECT_EQ(plates_of(compact_graph("na,ntab->nb,tnb", {.plates = "n", .chains = hmm}), "b"), "nt");
}

TEST(LinkedPlates, ThatAreStatedHoldForAllThatLinksLeadTo) {
  FactorGraph g;
  g.plate("n", 2);
  g.chain("t", 3);
  g.variable("a", 2, {"t"});
  for (const char* name : {"b", "c"}) g.variable(name, 2);
  g.link("t", "a", "b");
  g.link("t", "b", "c");
  g.factor("step", {"n", "t", "a", "b", "c"});
  EXPECT_EQ(plates_of(g, "c"), "t");
  g.factor("start", {"^a"});
  EXPECT_NO_THROW(g.validate());
}

TEST(LinkedPlates, ThatAreStatedMustHoldTheChainAndAgree) {
  const auto stated = [](const std::vector<std::string>& a, const std::vector<std::string>& b) {
    FactorGraph g;
    g.plate("n", 2);
    g.chain("t", 3);
    g.variable("a", 2, a);
    g.variable("b", 2, b);
    g.link("t", "a", "b");
    return g;
  };
  EXPECT_SAYS(message_of<PlateError>([&] { stated({"n"}, {"n"}).validate(); }), "chain 't' links it");
  EXPECT_SAYS(message_of<PlateError>([&] { stated({"t"}, {"t", "n"}).validate(); }), "{'t'} and {'n', 't'}");
  FactorGraph g = stated({"t", "n"}, {"t", "n"});
  EXPECT_EQ(plates_of(g, "b"), "nt");
  g.factor("outside", {"t", "a", "b"});
  EXPECT_SAYS(message_of<PlateError>([&] { g.validate(); }), "factor 'outside' (t a b) holds variable 'a' outside of");
}

TEST(LinkedPlates, OfAChainInsideAChain) {
  const Chains nested{{"s", {"d->e"}}, {"t", {"a->b"}}};
  const FactorGraph g = compact_graph("a,tab,tbd,tsde->", {.chains = nested});
  EXPECT_EQ(plates_of(g, "b"), "t");
  EXPECT_EQ(plates_of(g, "e"), "ts");
  EXPECT_EQ(plates_of(g, "^d"), "t");
  EXPECT_SAYS(error("a,tab,d,tsde->", {.chains = nested}), "write '(t) ^d'");
}

TEST(ChainPlates, OfUnlinkedVariablesFollowTheOrdinaryRule) {
  EXPECT_EQ(plates_of(compact_graph("a,tab,tbx->", {.chains = hmm}), "x"), "t");
  EXPECT_EQ(plates_of(compact_graph("a,tab,tbx,x->", {.chains = hmm}), "x"), "");
  EXPECT_EQ(plates_of(compact_graph("a,tab,tbx->x", {.chains = hmm}), "x"), "");
  EXPECT_EQ(plates_of(compact_graph("a,tab,tbx->tx", {.chains = hmm}), "x"), "t");
}

TEST(ChainPlates, OfTheEndsOfUnlinkedVariables) {
  const FactorGraph g = compact_graph("a,tab,tnbx,n^x->nx$", {.plates = "n", .chains = hmm});
  EXPECT_EQ(plates_of(g, "x"), "tn");
  EXPECT_EQ(plates_of(g, "^x"), "n");
  EXPECT_SAYS(error("a,tab,tnbx,^x->", {.plates = "n", .chains = hmm}), "write '(n) ^x'");
  EXPECT_SAYS(error("a,tab,tnbx->x$", {.plates = "n", .chains = hmm}), "write 'n x$'");
}

TEST(ChainPlates, OfSeveralLinksArePathByPath) {
  const Chains two{{"t", {"a->b", "c->d"}}};
  const FactorGraph g = compact_graph("a,nc,tab,(t)ncd,tnbd->", {.plates = "n", .chains = two});
  EXPECT_EQ(plates_of(g, "b"), "t");
  EXPECT_EQ(plates_of(g, "d"), "nt");
}

TEST(EmptyChain, HasEachLinksFirstSourceAndLastTarget) {
  for (const char* equation : {"a^b,tabc->b$,c", "a,tabc->", "^b,tabc->c"}) {
    EXPECT_NO_THROW((void)compact_graph(equation, {.chains = order_two}).resized("t", 0).validate()) << equation;
  }
}

TEST(EmptyChain, HasNoOtherEnds) {
  for (const char* equation : {"a$,tabc->", "^c,tabc->", "tabc->^c", "tabcx,^x->", "tabcx->x$"}) {
    const FactorGraph g = compact_graph(equation, {.chains = order_two});
    EXPECT_NO_THROW(g.validate());
    EXPECT_SAYS(message_of<PlateError>([&] { g.resized("t", 0).validate(); }), "chain 't' has no slices");
  }
  // What lies in an empty plate asks for nothing.
  const FactorGraph g = compact_graph("na$,ntabc->", {.plates = "n", .chains = order_two}).resized("t", 0);
  EXPECT_THROW(g.validate(), PlateError);
  EXPECT_NO_THROW(g.resized("n", 0).validate());
}

TEST(ChainAsking, KeepsPlatesAndResolvesNames) {
  const FactorGraph g = compact_graph("na,ntab,ntbx->nx,nb", {.plates = "n", .chains = hmm});
  ASSERT_EQ(plates_of(g, "x"), "n");
  const FactorGraph other = g.asking({{"n", "t", "b"}, {"n", "b"}, {"n", "a"}, {}});
  EXPECT_EQ(other.equation(), "n ^a, n t a b, n t b x -> n t b, n b$, n ^a,");
  for (const char* v : {"a", "b", "x", "^a", "b$"}) EXPECT_EQ(plates_of(other, v), plates_of(g, v));
}

TEST(ChainResized, GivesAChainAnotherLength) {
  const FactorGraph g = compact_graph("a,tab->", {.chains = hmm});
  EXPECT_EQ(g.resized("t", 9).dims()[*g.find("t")].size, 9);
  EXPECT_SAYS(message_of<SizeError>([&] { (void)g.resized("t", -1); }), "chain 't'");
}

TEST(ChainComponents, AreJoinedByLinksAndEnds) {
  // Every factor holds a variable of its own; links and ends make one component of those of t.
  const FactorGraph g = compact_graph("a,tb,tx,^x,y->", {.chains = hmm});
  const auto components = g.components();
  ASSERT_EQ(components.size(), 3U);
  EXPECT_EQ(components[0].factors, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(components[0].variables, (std::vector<DimId>{*g.find("a"), *g.find("b"), *g.find("^a")}));
  EXPECT_EQ(components[1].factors, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(components[1].variables, (std::vector<DimId>{*g.find("x"), *g.find("^x")}));
  EXPECT_EQ(components[2].factors, std::vector<std::size_t>{4});
}

TEST(ChainComponents, OfNoFactorKeepLinkedVariablesTogether) {
  FactorGraph g;
  g.chain("t", 2);
  for (const char* name : {"a", "b", "x"}) g.variable(name, 2);
  g.link("t", "a", "b");
  g.output({"b"});
  const auto components = g.components();
  ASSERT_EQ(components.size(), 2U);
  EXPECT_EQ(components[0].variables, (std::vector<DimId>{*g.find("a"), *g.find("b"), *g.find("b$")}));
  EXPECT_EQ(components[1].variables, std::vector<DimId>{*g.find("x")});
}

}  // namespace
}  // namespace plated
