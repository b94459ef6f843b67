// Unrolled chains: states, ends, lengths zero and one, orders, and chains in plates and in chains.
#include <gtest/gtest.h>

#include <chrono>

#include "compact_graph.hpp"
#include "message_of.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using test::compact_graph;
using test::message_of;
using Strings = std::vector<std::string>;
using Index = std::vector<std::pair<std::size_t, std::int64_t>>;
using Chains = std::map<std::string, std::vector<std::string>>;
const Chains hmm{{"t", {"a->b"}}};
const Chains order_two{{"t", {"a->b", "b->c"}}};

Strings dim_names(const FactorGraph& g) {
  Strings result;
  for (const Dim& dim : g.dims()) result.push_back(dim.name);
  return result;
}

TEST(UnrollChain, NumbersTheStates) {
  const UnrolledGraph u = compact_graph("a,(t)ab,tb->", {.chains = hmm, .sizes = {{"t", 3}}}).unroll("t");
  EXPECT_EQ(u.graph.equation(), "a[t=0], a[t=0] a[t=1], a[t=1] a[t=2], a[t=2] a[t=3], a[t=1], a[t=2], a[t=3] ->");
  EXPECT_EQ(dim_names(u.graph), (Strings{"a[t=0]", "a[t=1]", "a[t=2]", "a[t=3]"}));
  EXPECT_TRUE(u.graph.chains().empty());
  ASSERT_EQ(u.factors.size(), 7U);
  EXPECT_EQ(u.factors[3].original, 1U);
  EXPECT_TRUE(u.factors[3].index.empty());
  EXPECT_EQ(u.factors[6].original, 2U);
  EXPECT_EQ(u.factors[6].index, (Index{{0, 2}}));
  EXPECT_EQ(u.graph.factors()[6].name, "f2[t=2]");
}

TEST(UnrollChain, OfOrderTwoHasTwoMoreStatesThanSlices) {
  const FactorGraph g = compact_graph("a^b,tabc->c,^c,a$,tb", {.chains = order_two, .sizes = {{"t", 3}}});
  const UnrolledGraph u = g.unroll();
  EXPECT_EQ(u.graph.equation(),
            "a[t=0] a[t=1], a[t=0] a[t=1] a[t=2], a[t=1] a[t=2] a[t=3], a[t=2] a[t=3] a[t=4] -> "
            "a[t=4], a[t=2], a[t=2], a[t=1], a[t=2], a[t=3]");
  EXPECT_EQ(u.graph.dims().size(), 5U);
  ASSERT_EQ(u.outputs.size(), 6U);
  EXPECT_EQ(u.outputs[5].original, 3U);
  EXPECT_EQ(u.outputs[5].index, (Index{{0, 2}}));
}

TEST(UnrollChain, OfLengthZeroJoinsEachLinksEnds) {
  const UnrolledGraph one = compact_graph("a,(t)ab,tb->b,tb", {.chains = hmm, .sizes = {{"t", 0}}}).unroll();
  EXPECT_EQ(one.graph.equation(), "a[t=0] -> a[t=0]");
  EXPECT_EQ(dim_names(one.graph), Strings{"a[t=0]"});
  const UnrolledGraph two = compact_graph("a^b,tabc->c,b$,a", {.chains = order_two, .sizes = {{"t", 0}}}).unroll();
  EXPECT_EQ(two.graph.equation(), "a[t=0] a[t=1] -> a[t=1], a[t=0], a[t=0]");
  EXPECT_EQ(dim_names(two.graph), (Strings{"a[t=0]", "a[t=1]"}));
}

TEST(UnrollChain, OfLengthZeroRefusesEndsThatAreNotThere) {
  for (const char* equation : {"a$,tabc->", "^c,tabc->"}) {
    const FactorGraph g = compact_graph(equation, {.chains = order_two, .sizes = {{"t", 1}}});
    EXPECT_NO_THROW((void)g.unroll());
    EXPECT_SAYS(message_of<PlateError>([&] { (void)g.resized("t", 0).unroll("t"); }), "chain 't' has no slices");
    EXPECT_THROW((void)g.resized("t", 0).unroll(), PlateError);
  }
}

TEST(UnrollChain, DeclaresStatesThatNoFactorTouches) {
  const UnrolledGraph u = compact_graph("b,tx->a", {.chains = hmm, .sizes = {{"t", 2}}}).unroll();
  EXPECT_EQ(dim_names(u.graph), (Strings{"x[t=0]", "x[t=1]", "a[t=0]", "a[t=1]", "a[t=2]"}));
  EXPECT_EQ(u.graph.equation(), "a[t=2], x[t=0], x[t=1] -> a[t=0]");
  EXPECT_EQ(u.graph.dims()[*u.graph.find("a[t=1]")].size, 2);
}

TEST(UnrollChain, CopiesUnlinkedVariablesAndFindsTheirEnds) {
  const UnrolledGraph u = compact_graph("a,tab,tbx,^x->x$", {.chains = hmm, .sizes = {{"t", 2}}}).unroll();
  EXPECT_EQ(u.graph.equation(), "a[t=0], a[t=0] a[t=1], a[t=1] a[t=2], a[t=1] x[t=0], a[t=2] x[t=1], x[t=0] -> x[t=1]");
}

TEST(UnrollChain, OfSeveralLinksKeepsThemApart) {
  const Chains two{{"t", {"a->b", "c->d"}}};
  const UnrolledGraph u = compact_graph("ac,tab,tcd,tbd->", {.chains = two, .sizes = {{"t", 2}}}).unroll();
  EXPECT_EQ(
      u.graph.equation(),
      "a[t=0] c[t=0], a[t=0] a[t=1], a[t=1] a[t=2], c[t=0] c[t=1], c[t=1] c[t=2], a[t=1] c[t=1], a[t=2] c[t=2] ->");
}

TEST(UnrollChain, WhereFirstAndLastAreOneStateGivesDiagonals) {
  const FactorGraph g = compact_graph("^aa$,tab->^aa$", {.chains = hmm, .sizes = {{"t", 1}}});
  EXPECT_EQ(g.unroll().graph.equation(), "a[t=0] a[t=0], a[t=0] a[t=1] -> a[t=0] a[t=0]");
}

TEST(UnrollChain, InAPlateUnrollsInAnyOrder) {
  const FactorGraph g =
      compact_graph("(n)a,ntab->nb,ntb", {.plates = "n", .chains = hmm, .sizes = {{"n", 2}, {"t", 2}}});
  const FactorGraph chains = g.unroll("n").graph;
  EXPECT_EQ(chains.equation(),
            "^a[n=0], ^a[n=1], t a[n=0] b[n=0], t a[n=1] b[n=1] -> b[n=0]$, b[n=1]$, t b[n=0], t b[n=1]");
  ASSERT_EQ(chains.chains().size(), 1U);
  EXPECT_EQ(chains.chains()[0].links.size(), 2U);
  EXPECT_EQ(chains.linking_chain(*chains.find("b[n=1]")), chains.find("t"));
  EXPECT_EQ(chains.dims()[*chains.find("b[n=1]$")].of, *chains.find("b[n=1]"));
  EXPECT_EQ(chains.unroll("t").graph.equation(),
            "a[n=0,t=0], a[n=1,t=0], a[n=0,t=0] a[n=0,t=1], a[n=0,t=1] a[n=0,t=2], a[n=1,t=0] a[n=1,t=1], "
            "a[n=1,t=1] a[n=1,t=2] -> a[n=0,t=2], a[n=1,t=2], a[n=0,t=1], a[n=0,t=2], a[n=1,t=1], a[n=1,t=2]");
  const FactorGraph plates = g.unroll("t").graph;
  EXPECT_EQ(plates.equation(), "(n) a[t=0], n a[t=0] a[t=1], n a[t=1] a[t=2] -> n a[t=2], n a[t=1], n a[t=2]");
  EXPECT_EQ(plates.unroll("n").graph.factors().size(), 6U);
}

TEST(UnrollChain, KeepsThePlatesOfItsStates) {
  // Nothing but an end of the chain, in one more plate, holds state 0: it must not move there, as P(a) is {t}.
  const FactorGraph g = compact_graph("na,tb,nx->", {.plates = "n", .chains = hmm, .sizes = {{"n", 2}, {"t", 2}}});
  const FactorGraph u = g.unroll("t").graph;
  for (const char* state : {"a[t=0]", "a[t=1]", "a[t=2]"}) EXPECT_TRUE(u.variable_plates()[*u.find(state)].empty());
  EXPECT_EQ(u.unroll("n").graph.equation(), "a[t=0], a[t=0], a[t=1], a[t=2], x[n=0], x[n=1] ->");
  // The same where a state is in no factor at all, but its partners are in plate n.
  const FactorGraph partners =
      compact_graph("ntb,nx->na", {.plates = "n", .chains = hmm, .sizes = {{"n", 2}, {"t", 1}}});
  EXPECT_EQ(partners.unroll("t").graph.unroll("n").graph.equation(),
            "a[t=1,n=0], a[t=1,n=1], x[n=0], x[n=1] -> a[t=0,n=0], a[t=0,n=1]");
}

TEST(UnrollChain, KeepsWhatOutputsSaidOfOtherVariables) {
  // The output at the end is wider than the one in the chain; P(x) is {t, n} all the same.
  const FactorGraph g =
      compact_graph("a,tab,tnmbx->tnx,nmx$", {.plates = "nm", .chains = hmm, .sizes = {{"n", 2}, {"m", 2}, {"t", 2}}});
  const FactorGraph u = g.unroll("t").graph;
  EXPECT_EQ(u.variable_plates()[*u.find("x[t=1]")], std::vector<DimId>{*u.find("n")});
  EXPECT_NO_THROW((void)g.unroll());
}

TEST(UnrollChain, OfAnEmptyPlateDropsItsLinks) {
  const FactorGraph g = compact_graph("na,ntab,ty->", {.plates = "n", .chains = hmm, .sizes = {{"n", 0}, {"t", 2}}});
  const FactorGraph u = g.unroll("n").graph;
  EXPECT_EQ(u.equation(), "t y ->");
  ASSERT_EQ(u.chains().size(), 1U);
  EXPECT_TRUE(u.chains()[0].links.empty());
  EXPECT_EQ(g.unroll().graph.equation(), "y[t=0], y[t=1] ->");
}

TEST(UnrollChain, InsideAChainUnrollsInAnyOrder) {
  const Chains nested{{"s", {"d->e"}}, {"t", {"a->b"}}};
  const FactorGraph g = compact_graph("a,tab,tbd,tsde->", {.chains = nested, .sizes = {{"t", 2}, {"s", 2}}});
  EXPECT_EQ(g.unroll("t").graph.unroll("s").graph.equation(),
            "a[t=0], a[t=0] a[t=1], a[t=1] a[t=2], a[t=1] d[t=0,s=0], a[t=2] d[t=1,s=0], "
            "d[t=0,s=0] d[t=0,s=1], d[t=0,s=1] d[t=0,s=2], d[t=1,s=0] d[t=1,s=1], d[t=1,s=1] d[t=1,s=2] ->");
  EXPECT_EQ(g.unroll("s").graph.unroll("t").graph.equation(),
            "a[t=0], a[t=0] a[t=1], a[t=1] a[t=2], a[t=1] d[s=0,t=0], a[t=2] d[s=0,t=1], "
            "d[s=0,t=0] d[s=1,t=0], d[s=0,t=1] d[s=1,t=1], d[s=1,t=0] d[s=2,t=0], d[s=1,t=1] d[s=2,t=1] ->");
}

TEST(UnrollChain, CarriesDistributions) {
  FactorGraph g;
  g.chain("t", 2);
  g.variable("a", 2);
  g.variable("b", 2);
  g.link("t", "a", "b");
  g.factor("prior", {"a"}, {.distribution_of = "a", .trusted = true});
  g.factor("step", {"t", "a", "b"}, {.distribution_of = "b"});
  const FactorGraph u = g.unroll().graph;
  EXPECT_EQ(u.factors()[0].distribution_of, u.find("a[t=0]"));
  EXPECT_TRUE(u.factors()[0].trusted);
  EXPECT_EQ(u.factors()[2].distribution_of, u.find("a[t=2]"));
}

TEST(UnrollChain, WithoutLinksIsAPlate) {
  EXPECT_EQ(compact_graph("x,txy->ty", {.chains = {{"t", {}}}, .sizes = {{"t", 2}}}).unroll().graph.equation(),
            "x, x y[t=0], x y[t=1] -> y[t=0], y[t=1]");
}

TEST(UnrollChain, RefusesMoreThanTwoToThe31Copies) {
  const std::int64_t large = std::int64_t{1} << 31;
  const FactorGraph g = compact_graph("a,(t)ab->", {.chains = hmm, .sizes = {{"t", large}}});
  EXPECT_SAYS(message_of<SizeOverflowError>([&] { (void)g.unroll("t"); }), "{'t'} makes more than 2^31 copies");
  EXPECT_THROW((void)g.unroll(), SizeOverflowError);
}

TEST(UnrollChain, OfTenThousandSlicesIsQuick) {
  const FactorGraph g = compact_graph("a,(t)ab,tb->tb,b", {.chains = hmm, .sizes = {{"t", 10000}}});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(g.unroll().graph.factors().size(), 20001U);
  // About 20 ms; a scan of all names for each copy would take several seconds.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace plated
