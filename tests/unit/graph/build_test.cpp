// The builder: declarations in order, and refusals.
#include <gtest/gtest.h>

#include "message_of.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using test::message_of;

FactorGraph declared() {
  FactorGraph g;
  g.batch("n", 4);
  g.plate("i", 3);
  g.plate("j", 5);
  g.variable("x", 2);
  g.variable("y", 6);
  return g;
}

TEST(Builder, KeepsTheOrderOfCalls) {
  const FactorGraph g = declared();
  ASSERT_EQ(g.dims().size(), 5U);
  EXPECT_EQ(g.dims()[1].name, "i");
  EXPECT_EQ(g.dims()[1].kind, DimKind::plate);
  EXPECT_EQ(g.dims()[1].size, 3);
  EXPECT_EQ(g.find("y"), DimId{4});
  EXPECT_EQ(g.find("z"), std::nullopt);
}

TEST(Builder, FactorsTakeDimsInAnyOrder) {
  FactorGraph g = declared();
  EXPECT_EQ(g.factor("prior", {"x"}), 0U);
  EXPECT_EQ(g.factor("likelihood", {"y", "i", "x", "n"}, {.tied = {"j"}, .distribution_of = "y", .trusted = true}), 1U);
  const Factor& factor = g.factors()[1];
  EXPECT_EQ(factor.dims, (std::vector<DimId>{4, 1, 3, 0}));
  EXPECT_EQ(factor.tied, std::vector<DimId>{2});
  EXPECT_EQ(factor.distribution_of, DimId{4});
  EXPECT_TRUE(factor.trusted);
  EXPECT_FALSE(g.factors()[0].distribution_of.has_value());
  EXPECT_EQ(g.factor_plates(1), (std::vector<DimId>{1, 2}));
  EXPECT_EQ(g.factor_variables(1), (std::vector<DimId>{3, 4}));
}

TEST(Builder, NamelessFactorsAreNumbered) {
  FactorGraph g = declared();
  g.factor("prior", {"x"});
  g.factor("", {"y"});
  EXPECT_EQ(g.factors()[1].name, "f1");
}

TEST(Builder, UnwrittenBatchDimsLeadOutputs) {
  FactorGraph g;
  g.batch("m", 2);
  g.variable("x", 2);
  g.batch("n", 2);
  EXPECT_EQ(g.output({"x"}), 0U);
  EXPECT_EQ(g.output({"x", "m"}), 1U);
  EXPECT_EQ(g.output({"n", "x", "m"}), 2U);
  EXPECT_EQ(g.output({}), 3U);
  EXPECT_EQ(g.outputs()[0].dims, (std::vector<DimId>{0, 2, 1}));
  EXPECT_EQ(g.outputs()[1].dims, (std::vector<DimId>{2, 1, 0}));
  EXPECT_EQ(g.outputs()[2].dims, (std::vector<DimId>{2, 1, 0}));
  EXPECT_EQ(g.outputs()[3].dims, (std::vector<DimId>{0, 2}));
}

TEST(Builder, BatchDimsComeBeforeOutputs) {
  FactorGraph g;
  g.variable("x", 2);
  g.output({"x"});
  EXPECT_SAYS(message_of<PlateError>([&] { g.batch("n", 2); }), "'n' is declared after an output");
  EXPECT_FALSE(g.find("n").has_value());
}

TEST(Builder, RefusesNamesDeclaredTwiceWhateverTheirKind) {
  FactorGraph g = declared();
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { g.variable("x", 2); }), "'x' is declared twice");
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { g.plate("x", 2); }), "'x' is declared twice");
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { g.batch("i", 2); }), "'i' is declared twice");
  EXPECT_EQ(g.dims().size(), 5U);
}

TEST(Builder, RefusesNamesThatNoEquationCanSpell) {
  FactorGraph g;
  for (const char* name : {"", "a b", " a", "a,b", "(a)", "a-b", "-", ">", "^a", "a$", "a.b", "[", "a[", "\xFF"}) {
    EXPECT_THROW(g.variable(name, 2), ParseError) << name;
    EXPECT_THROW(g.plate(name, 2), ParseError) << name;
    EXPECT_THROW(g.batch(name, 2), ParseError) << name;
  }
  for (const char* name : {"a", "rating_2", "größe", "7", "+", "y[i=0,j=2]"}) {
    EXPECT_NO_THROW(g.variable(name, 2)) << name;
  }
}

TEST(Builder, RefusesNegativeSizes) {
  FactorGraph g;
  EXPECT_SAYS(message_of<SizeError>([&] { g.variable("x", -1); }), "dim 'x' has the negative size -1");
  EXPECT_THROW(g.plate("i", -3), SizeError);
  EXPECT_TRUE(g.dims().empty());
  EXPECT_NO_THROW(g.plate("i", 0));
}

TEST(Builder, RefusesUnknownNames) {
  FactorGraph g = declared();
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.factor("f", {"x", "z"}); }), "unknown dim 'z' in factor 'f'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.factor("f", {"x"}, {.tied = {"t"}}); }), "unknown dim 't'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.output({"z"}); }), "unknown dim 'z' in output 0");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { g.variable("w", 2, {"k"}); }), "unknown dim 'k'");
  EXPECT_TRUE(g.factors().empty());
}

TEST(Builder, RefusesRepeatsInOutputsAndTiedDims) {
  FactorGraph g = declared();
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { g.output({"x", "i", "x"}); }), "'x' is written twice in output 0");
  EXPECT_SAYS(message_of<DuplicateNameError>([&] {
                g.factor("f", {"i", "x"}, {.tied = {"i"}});
              }),
              "'i' is both an axis and tied in factor 'f'");
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { g.factor("f", {"x"}, {.tied = {"i", "i"}}); }), "tied twice");
  EXPECT_SAYS(message_of<PlateError>([&] { g.factor("f", {"x"}, {.tied = {"y"}}); }), "variable 'y' is tied");
}

TEST(Builder, TiedBatchDimsAreAsNotWritten) {
  FactorGraph g = declared();
  g.factor("f", {"x"}, {.tied = {"n", "i"}});
  EXPECT_EQ(g.factors()[0].tied, std::vector<DimId>{1});
}

TEST(Builder, DistributionsAreOfAVariableOfTheFactor) {
  FactorGraph g = declared();
  const auto distribution = [&](const char* of) { g.factor("f", {"i", "x"}, {.distribution_of = of}); };
  EXPECT_SAYS(message_of<UnknownNameError>([&] { distribution("z"); }), "unknown dim 'z'");
  EXPECT_SAYS(message_of<UnknownNameError>([&] { distribution("y"); }), "distribution of 'y' but does not hold it");
  EXPECT_SAYS(message_of<PlateError>([&] { distribution("i"); }), "'i', which is not a variable");
  EXPECT_NO_THROW(distribution("x"));
}

TEST(Builder, StatedPlatesArePlatesEachOnce) {
  FactorGraph g = declared();
  EXPECT_SAYS(message_of<PlateError>([&] { g.variable("w", 2, {"n"}); }), "'n' in the plates of variable 'w' is not");
  EXPECT_SAYS(message_of<PlateError>([&] { g.variable("w", 2, {"x"}); }), "but a variable");
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { g.variable("w", 2, {"i", "i"}); }), "'i' is listed twice");
  EXPECT_FALSE(g.find("w").has_value());
}

TEST(Builder, RefusesAFactorWhoseNameIsTaken) {
  FactorGraph g = declared();
  g.factor("prior", {"x"});
  g.factor("f", {"x"});
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { g.factor("f", {"y"}); }), "factors 1 and 2 are both named 'f'");
  ASSERT_EQ(g.factors().size(), 2U);
  EXPECT_EQ(g.factor("g", {"y"}), 2U);
}

TEST(Builder, FactorsWithoutANameAvoidTheNamesThatAreThere) {
  FactorGraph g = declared();
  g.factor("f1", {"x"});
  g.factor("", {"x"});
  g.factor("", {"y"});
  EXPECT_EQ(g.factors()[1].name, "f2");
  EXPECT_EQ(g.factors()[2].name, "f3");
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { g.factor("f2", {"y"}); }), "factors 1 and 3 are both named 'f2'");
}

TEST(Builder, AFactorAddedToAnEquationOrACopyNeedsANameOfItsOwn) {
  const std::vector<std::vector<std::int64_t>> shapes = {{2}, {3, 2}};
  const FactorGraph equation = FactorGraph::from_equation("x,ix->", shapes, {.plates = "i"});
  FactorGraph copy = equation;
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { copy.factor("f1", {"x"}); }), "factors 1 and 2");
  FactorGraph unrolled = equation.unroll().graph;
  EXPECT_SAYS(message_of<DuplicateNameError>([&] { unrolled.factor("f1[i=2]", {"x"}); }), "factors 3 and 4");
  EXPECT_EQ(unrolled.factor("f1", {"x"}), 4U);
}

}  // namespace
}  // namespace plated
