// Unrolling: names, slices of the original operands, empty plates, and counts on random graphs.
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <set>

#include "message_of.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"
#include "random_graph.hpp"

namespace plated {
namespace {

using test::message_of;
using Strings = std::vector<std::string>;
using Index = std::vector<std::pair<std::size_t, std::int64_t>>;
using Shapes = std::vector<std::vector<std::int64_t>>;

FactorGraph graph(std::string_view equation, const Shapes& shapes, const EquationOptions& options) {
  return FactorGraph::from_equation(equation, shapes, options);
}
Strings dim_names(const FactorGraph& g) {
  Strings result;
  for (const Dim& dim : g.dims()) result.push_back(dim.name);
  return result;
}

TEST(Unroll, CopiesWhatIsInsideThePlate) {
  const UnrolledGraph u = graph("x,iy,ijxy->", {{2}, {2, 3}, {2, 5, 2, 3}}, {.plates = "ij"}).unroll("i");
  EXPECT_EQ(dim_names(u.graph), (Strings{"x", "y[i=0]", "y[i=1]", "j"}));
  EXPECT_EQ(u.graph.equation(), "x, y[i=0], y[i=1], j x y[i=0], j x y[i=1] ->");
  EXPECT_EQ(u.graph.factors()[4].name, "f2[i=1]");
  ASSERT_EQ(u.factors.size(), 5U);
  EXPECT_EQ(u.factors[0].original, 0U);
  EXPECT_EQ(u.factors[0].index, Index{});
  EXPECT_EQ(u.factors[4].original, 2U);
  EXPECT_EQ(u.factors[4].index, (Index{{0, 1}}));
  EXPECT_EQ(u.graph.dims()[*u.graph.find("y[i=1]")].size, 3);
}

TEST(Unroll, OfEveryPlateMergesBracketsAndComposesSlices) {
  const UnrolledGraph u = graph("yjxi->", {{3, 2, 4, 2}}, {.plates = "ij"}).unroll();
  // Declared in order of appearance: j before i.
  EXPECT_EQ(u.graph.equation(),
            "y[j=0,i=0] x[j=0,i=0], y[j=0,i=1] x[j=0,i=1], y[j=1,i=0] x[j=1,i=0], y[j=1,i=1] x[j=1,i=1] ->");
  ASSERT_EQ(u.factors.size(), 4U);
  EXPECT_EQ(u.factors[1].index, (Index{{1, 0}, {3, 1}}));
  EXPECT_EQ(u.factors[2].index, (Index{{1, 1}, {3, 0}}));
  EXPECT_EQ(u.graph.factors()[2].name, "f0[j=1,i=0]");
}

TEST(Unroll, BracketsFollowTheOrderOfUnrolling) {
  const FactorGraph g = graph("ijx->", {{2, 2, 2}}, {.plates = "ij"});
  EXPECT_TRUE(g.unroll("j").graph.unroll("i").graph.find("x[j=1,i=0]").has_value());
}

TEST(Unroll, DiagonalPlatesFixBothAxes) {
  const UnrolledGraph u = graph("ixi->", {{3, 2, 3}}, {.plates = "i"}).unroll("i");
  ASSERT_EQ(u.factors.size(), 3U);
  EXPECT_EQ(u.factors[2].index, (Index{{0, 2}, {2, 2}}));
  EXPECT_EQ(u.graph.factors()[2].dims.size(), 1U);
}

TEST(Unroll, TiedFactorsAreCopiesOfTheSameSlice) {
  const UnrolledGraph u = graph("(t)ab,tb->", {{2, 3}, {2, 3}}, {.plates = "t"}).unroll("t");
  EXPECT_EQ(u.graph.equation(), "a[t=0] b[t=0], a[t=1] b[t=1], b[t=0], b[t=1] ->");
  EXPECT_EQ(u.factors[0].original, 0U);
  EXPECT_EQ(u.factors[1].original, 0U);
  EXPECT_TRUE(u.factors[1].index.empty());
  EXPECT_TRUE(u.graph.factors()[0].tied.empty());
}

TEST(Unroll, OtherTiedPlatesStayTied) {
  const UnrolledGraph u = graph("(ts)a->", {{2}}, {.plates = "ts", .sizes = {{"t", 2}, {"s", 3}}}).unroll("t");
  EXPECT_EQ(u.graph.equation(), "(s) a[t=0], (s) a[t=1] ->");
}

TEST(Unroll, OutputsWithThePlateBecomeOneForEachSlice) {
  const UnrolledGraph u = graph("ix,y->xi,y,yi", {{2, 3}, {4}}, {.plates = "i"}).unroll("i");
  EXPECT_EQ(u.graph.equation(), "x[i=0], x[i=1], y -> x[i=0], x[i=1], y, y, y");
  ASSERT_EQ(u.outputs.size(), 5U);
  EXPECT_EQ(u.outputs[1].original, 0U);
  EXPECT_EQ(u.outputs[1].index, (Index{{1, 1}}));
  EXPECT_EQ(u.outputs[2].index, Index{});
  EXPECT_EQ(u.outputs[4].original, 2U);
  EXPECT_EQ(u.outputs[4].index, (Index{{1, 1}}));
}

TEST(Unroll, VariablesThatAnOutputMakesGlobalAreNotCopied) {
  EXPECT_EQ(graph("xy,iyz->xz", {{2, 2}, {2, 2, 2}}, {.plates = "i"}).unroll("i").graph.equation(),
            "x y, y z, y z -> x z");
}

TEST(Unroll, BatchDimsStay) {
  const UnrolledGraph u = graph("nix->", {{3, 2, 2}}, {.plates = "i", .batch = "n"}).unroll();
  EXPECT_EQ(u.graph.equation(), "n x[i=0], n x[i=1] -> n");
  EXPECT_EQ(u.factors[1].index, (Index{{1, 1}}));
}

TEST(Unroll, EmptyPlatesVanishWithTheirFactorsAndVariables) {
  const UnrolledGraph u = graph("x,ixy->x,yi", {{2}, {0, 2, 3}}, {.plates = "i"}).unroll();
  EXPECT_EQ(u.graph.equation(), "x -> x");
  EXPECT_EQ(dim_names(u.graph), Strings{"x"});
}

TEST(Unroll, EmptyPlatesDoNotMoveOtherVariablesIntoPlates) {
  // P(x) is empty because the factor in i holds it outside of j; that factor vanishes, P(x) must not change.
  const UnrolledGraph u = graph("jx,ix->", {{3, 2}, {0, 2}}, {.plates = "ij"}).unroll("i");
  EXPECT_EQ(u.graph.equation(), "j x ->");
  EXPECT_TRUE(u.graph.variable_plates()[*u.graph.find("x")].empty());
  EXPECT_EQ(graph("jx,ix->", {{3, 2}, {0, 2}}, {.plates = "ij"}).unroll().graph.equation(), "x, x, x ->");
}

TEST(Unroll, EmptyPlatesGoFirstSoThatNothingIsCopiedInVain) {
  const std::int64_t huge = std::int64_t{1} << 40;
  const UnrolledGraph u = graph("ijx,y->", {{huge, 0, 2}, {2}}, {.plates = "ij"}).unroll();
  EXPECT_EQ(u.graph.equation(), "y ->");
}

TEST(Unroll, CarriesStatedPlatesAndDistributions) {
  FactorGraph g;
  g.plate("i", 2);
  g.plate("j", 2);
  g.variable("x", 2, {"i"});
  g.variable("y", 2);
  g.factor("f", {"i", "j", "x", "y"}, {.distribution_of = "y", .trusted = true});
  const FactorGraph u = g.unroll("i").graph;
  EXPECT_TRUE(u.variable_plates()[*u.find("x[i=1]")].empty());
  EXPECT_EQ(u.variable_plates()[*u.find("y[i=1]")], std::vector<DimId>{*u.find("j")});
  EXPECT_EQ(u.factors()[1].distribution_of, u.find("y[i=1]"));
  EXPECT_TRUE(u.factors()[1].trusted);
  const FactorGraph all = g.unroll().graph;
  EXPECT_TRUE(all.find("x[i=1]").has_value());
  EXPECT_TRUE(all.find("y[i=1,j=0]").has_value());
  EXPECT_EQ(all.factors().size(), 4U);
}

TEST(Unroll, WithoutPlatesChangesNothing) {
  const UnrolledGraph u = graph("ab,b->a", {{2, 3}, {3}}, {}).unroll();
  EXPECT_EQ(u.graph.equation(), "a b, b -> a");
  EXPECT_EQ(u.factors[1].original, 1U);
}

TEST(Unroll, RefusesWhatIsNoPlate) {
  const FactorGraph g = graph("nix->", {{3, 2, 2}}, {.plates = "i", .batch = "n"});
  for (const char* name : {"x", "n", "z"}) {
    EXPECT_SAYS(message_of<UnknownNameError>([&] { (void)g.unroll(name); }), "no plate '" + std::string(name) + "'");
  }
}

TEST(Unroll, RefusesMoreThanTwoToThe31Copies) {
  const std::int64_t large = std::int64_t{1} << 30;
  const FactorGraph g = graph("ix,ijy->", {{large, 2}, {large, large, 2}}, {.plates = "ij"});
  EXPECT_THROW((void)g.unroll("i"), SizeOverflowError);
  EXPECT_SAYS(message_of<SizeOverflowError>([&] { (void)g.unroll(); }), "{'i', 'j'} makes more than 2^31 copies");
}

TEST(Unroll, RefusesNamesThatWouldBecomeOne) {
  FactorGraph g;
  g.plate("i", 2);
  g.variable("y", 2);
  g.variable("y[i=0]", 2);
  g.factor("f", {"i", "y"});
  EXPECT_THROW((void)g.unroll("i"), DuplicateNameError);
}

TEST(Unroll, OfRandomGraphsHasAsManyCopiesAsSlices) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const FactorGraph g = test::random_graph(random, 0);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + g.print());
    const auto slices = [&](const std::vector<DimId>& dims) {
      std::int64_t count = 1;
      for (const DimId d : dims) count *= g.dims()[d].kind == DimKind::plate ? g.dims()[d].size : 1;
      return count;
    };
    const UnrolledGraph u = g.unroll();
    std::int64_t variables = 0, factors = 0, outputs = 0;
    const auto plates = g.variable_plates();
    for (DimId d = 0; d < g.dims().size(); ++d) variables += g.dims()[d].kind == DimKind::plate ? 0 : slices(plates[d]);
    for (std::size_t f = 0; f < g.factors().size(); ++f) factors += slices(g.factor_plates(f));
    for (const Output& output : g.outputs()) outputs += slices(output.dims);
    EXPECT_EQ(static_cast<std::int64_t>(u.graph.dims().size()), variables);
    EXPECT_EQ(static_cast<std::int64_t>(u.graph.factors().size()), factors);
    EXPECT_EQ(static_cast<std::int64_t>(u.graph.outputs().size()), outputs);
    EXPECT_NO_THROW(u.graph.validate());

    // Each copy has the original's axes but the fixed ones, and no two copies of an untied factor are the same slice.
    std::set<std::pair<std::size_t, Index>> seen;
    ASSERT_EQ(u.factors.size(), u.graph.factors().size());
    for (std::size_t f = 0; f < u.factors.size(); ++f) {
      const Factor& original = g.factors()[u.factors[f].original];
      const Factor& copy = u.graph.factors()[f];
      ASSERT_EQ(copy.dims.size() + u.factors[f].index.size(), original.dims.size());
      std::vector<std::int64_t> left, expected;
      for (const DimId d : copy.dims) left.push_back(u.graph.dims()[d].size);
      for (const DimId d : original.dims) {
        if (g.dims()[d].kind != DimKind::plate) expected.push_back(g.dims()[d].size);
      }
      EXPECT_EQ(left, expected);
      for (const auto& [axis, at] : u.factors[f].index) {
        EXPECT_EQ(g.dims()[original.dims[axis]].kind, DimKind::plate);
        EXPECT_LT(at, g.dims()[original.dims[axis]].size);
      }
      EXPECT_TRUE(seen.emplace(u.factors[f].original, u.factors[f].index).second || !original.tied.empty());
    }
  }
}

TEST(Unroll, OneAfterTheOtherIsTheSameAsAllAtOnce) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const FactorGraph g = test::random_graph(random);
    FactorGraph step_by_step = g;
    for (const Dim& dim : g.dims()) {
      if (dim.kind == DimKind::plate) step_by_step = step_by_step.unroll(dim.name).graph;
    }
    EXPECT_EQ(step_by_step.print(), g.unroll().graph.print()) << "seed " << seed << "\n" << g.print();
  }
}

TEST(Unroll, OfTenThousandSlicesIsQuick) {
  const FactorGraph g = graph("x,ixy,iyz->x", {{2}, {10000, 2, 3}, {10000, 3, 2}}, {.plates = "i"});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(g.unroll().graph.factors().size(), 20001U);
  // About 20 ms; a scan of all names for each copy would take several seconds.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace plated
