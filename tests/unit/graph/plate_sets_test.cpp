// P(v): the largest set consistent with factors and outputs, or the stated set.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "compact_graph.hpp"
#include "graph/derived.hpp"
#include "message_of.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using test::compact_graph;
using test::message_of;
using test::plates_of;

TEST(VariablePlates, AreTheIntersectionOverFactors) {
  const FactorGraph g = compact_graph("ijx,jix,ix,ijy,z->", {.plates = "ij"});
  EXPECT_EQ(plates_of(g, "x"), "i");
  EXPECT_EQ(plates_of(g, "y"), "ij");
  EXPECT_EQ(plates_of(g, "z"), "");
}

TEST(VariablePlates, OutputWithoutThePlateMakesAVariableGlobal) {  // [TVE] Sec. 5.2
  EXPECT_EQ(plates_of(compact_graph("xy,iyz->xz", {.plates = "i"}), "z"), "");
  EXPECT_EQ(plates_of(compact_graph("xy,iyz->xiz", {.plates = "i"}), "z"), "i");
  EXPECT_EQ(plates_of(compact_graph("xy,iyz->", {.plates = "i"}), "z"), "i");
}

TEST(VariablePlates, OutputSaysNothingBeyondTheFactors) {
  // j is a plate of the output but not of the factors that hold x.
  EXPECT_EQ(plates_of(compact_graph("ix,jy->ijxy", {.plates = "ij"}), "x"), "i");
  EXPECT_EQ(plates_of(compact_graph("ix,jy->ijxy", {.plates = "ij"}), "y"), "j");
}

TEST(VariablePlates, OutputsAgreeWhereTheyDifferOnlyBeyondTheFactors) {
  EXPECT_EQ(plates_of(compact_graph("ix,jy->ix,ijx", {.plates = "ij"}), "x"), "i");
}

TEST(VariablePlates, OutputsThatDisagreeAreNamed) {
  const std::string message = message_of<PlateError>([] { (void)compact_graph("ijx->ix,jx", {.plates = "ij"}); });
  EXPECT_SAYS(message, "outputs \"ix\" and \"jx\" disagree on the plates of variable 'x': {'i'} and {'j'}");
}

TEST(VariablePlates, OfATiedFactorCountItsTiedDims) {
  EXPECT_EQ(plates_of(compact_graph("(t)ab,tb->", {.plates = "t"}), "b"), "t");
  EXPECT_EQ(plates_of(compact_graph("(t)ab,tb,a->", {.plates = "t"}), "a"), "");
}

TEST(VariablePlates, NeverHoldBatchDims) {
  const FactorGraph g = compact_graph("nix,ix->nx", {.plates = "i", .batch = "n"});
  EXPECT_EQ(plates_of(g, "x"), "");
  EXPECT_EQ(plates_of(compact_graph("nix->nix", {.plates = "i", .batch = "n"}), "x"), "i");
  EXPECT_TRUE(g.variable_plates()[*g.find("n")].empty());
  EXPECT_TRUE(g.variable_plates()[*g.find("i")].empty());
}

TEST(VariablePlates, OfAVariableInNoFactorAreThoseOfItsOutput) {
  EXPECT_EQ(plates_of(compact_graph("ia->ix", {.plates = "i", .sizes = {{"x", 3}}}), "x"), "i");
  EXPECT_EQ(plates_of(compact_graph("ia->x", {.plates = "i", .sizes = {{"x", 3}}}), "x"), "");
  FactorGraph g;
  g.plate("i", 2);
  g.variable("x", 3);
  EXPECT_EQ(plates_of(g, "x"), "");
}

TEST(VariablePlates, DiagonalPlatesCountOnce) {
  EXPECT_EQ(plates_of(compact_graph("iix->", {.plates = "i"}), "x"), "i");
}

TEST(VariablePlates, AreSortedByDeclaration) {
  EXPECT_EQ(plates_of(compact_graph("ijk,kjix->", {.plates = "kji"}), "x"), "ijk");
}

FactorGraph with_stated(const std::vector<std::string>& plates) {
  FactorGraph g;
  g.plate("i", 2);
  g.plate("j", 2);
  g.variable("x", 2, plates);
  return g;
}

TEST(StatedPlates, WinOverTheLargestSet) {
  FactorGraph g = with_stated({"j"});
  g.factor("f", {"i", "j", "x"});
  EXPECT_EQ(plates_of(g, "x"), "j");
  FactorGraph none = with_stated({});
  none.factor("f", {"i", "j", "x"});
  EXPECT_EQ(plates_of(none, "x"), "");
}

TEST(StatedPlates, HoldForAVariableThatNothingTouches) { EXPECT_EQ(plates_of(with_stated({"j", "i"}), "x"), "ij"); }

TEST(StatedPlates, MustBePlatesOfEveryFactor) {
  FactorGraph g = with_stated({"i", "j"});
  g.factor("both", {"i", "j", "x"});
  EXPECT_NO_THROW(g.validate());
  g.factor("outside", {"i", "x"});
  const std::string message = message_of<PlateError>([&] { g.validate(); });
  EXPECT_SAYS(message, "variable 'x'");
  EXPECT_SAYS(message, "plate 'j'");
  EXPECT_SAYS(message, "factor 'outside' (i x)");
}

TEST(StatedPlates, MayBeMetByTiedDims) {
  FactorGraph g = with_stated({"i"});
  g.factor("f", {"x"}, {.tied = {"i"}});
  EXPECT_NO_THROW(g.validate());
}

TEST(StatedPlates, MustBeInEveryOutputThatHoldsTheVariable) {
  FactorGraph g = with_stated({"i"});
  g.factor("f", {"i", "j", "x"});
  g.output({"i", "x"});
  g.output({"j", "x", "i"});  // a broadcast over j: x is the same in each of its slices
  EXPECT_EQ(plates_of(g, "x"), "i");
  g.output({"x", "j"});
  const std::string message = message_of<PlateError>([&] { g.validate(); });
  EXPECT_SAYS(message, "variable 'x'");
  EXPECT_SAYS(message, "plate 'i'");
  EXPECT_SAYS(message, "output \"xj\"");
}

TEST(VariablePlates, AreInferredAnewWhenTheGraphChanges) {
  FactorGraph g;
  g.plate("i", 2);
  g.variable("x", 3);
  g.factor("likelihood", {"i", "x"});
  EXPECT_EQ(plates_of(g, "x"), "i");
  const FactorGraph before = g;
  g.factor("prior", {"x"});
  EXPECT_EQ(plates_of(g, "x"), "");
  EXPECT_EQ(plates_of(before, "x"), "i");
  g = before;
  EXPECT_EQ(plates_of(g, "x"), "i");
}

TEST(VariablePlates, AreInferredOnceAndSharedWithCopies) {
  const FactorGraph g = compact_graph("ijx,jix,ix,ijy,z->", {.plates = "ij"});
  const auto* plates = &g.variable_plates();
  EXPECT_EQ(&g.variable_plates(), plates);
  EXPECT_EQ(&FactorGraph(g).variable_plates(), plates);
}

TEST(VariablePlates, AreInferredByManyThreadsAtOnce) {
  FactorGraph g;
  g.plate("i", 2);
  for (int v = 0; v < 100; ++v) {
    g.variable("v" + std::to_string(v), 2);
    g.factor("", {"i", "v" + std::to_string(v)});
  }
  std::vector<const std::vector<std::vector<DimId>>*> seen(4, nullptr);
  std::vector<std::thread> threads;
  for (auto& plates : seen) threads.emplace_back([&g, &plates] { plates = &g.variable_plates(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto* plates : seen) EXPECT_EQ(plates, &g.variable_plates());
}

TEST(Copies, ChangeAlone) {
  FactorGraph g;
  g.variable("x", 3);
  g.factor("f", {"x"});
  FactorGraph copy = g;
  copy.variable("y", 2);
  EXPECT_EQ(copy.factors()[copy.factor("h", {"x", "y"})].name, "h");
  EXPECT_FALSE(g.find("y").has_value());
  EXPECT_EQ(g.factors().size(), 1U);
  g.factor("h", {"x"});  // the name is free here
  EXPECT_EQ(copy.dims().size(), 2U);
}

TEST(Copies, ThatShareMemoryChangeAlone) {
  FactorGraph g;
  g.plate("i", 3);
  g.variable("x", 2);
  g.factor("f", {"i", "x"});
  g.output({});
  FactorGraph shared = graph::Derived::shared(g);
  EXPECT_EQ(&shared.factors(), &g.factors());
  EXPECT_EQ(shared.equation(), g.equation());
  shared.factor("h", {"x"});
  EXPECT_EQ(g.factors().size(), 1U);
  EXPECT_EQ(&shared.dims(), &g.dims());
  g.variable("y", 4);
  EXPECT_FALSE(shared.find("y").has_value());
  EXPECT_EQ(shared.dims().size(), 2U);
  EXPECT_EQ(shared.factors().size(), 2U);
}

TEST(Copies, KeepTheirOwnSizes) {
  FactorGraph g;
  g.plate("i", 3);
  g.variable("x", 2);
  g.factor("f", {"i", "x"});
  const FactorGraph before = g;
  const FactorGraph larger = g.resized("i", 7);
  g.factor("g", {"x"});
  EXPECT_EQ(before.dims()[0].size, 3);
  EXPECT_EQ(larger.dims()[0].size, 7);
  EXPECT_EQ(before.factors().size(), 1U);
  EXPECT_EQ(larger.factors().size(), 1U);
  EXPECT_EQ(g.factors().size(), 2U);
}

}  // namespace
}  // namespace plated
