// Graphs of equations: kinds, sizes, operand checks and completed outputs.
#include <gtest/gtest.h>

#include <chrono>

#include "message_of.hpp"
#include "plated/error.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

using test::message_of;
using Shapes = std::vector<std::vector<std::int64_t>>;

FactorGraph graph(std::string_view equation, const Shapes& shapes, const EquationOptions& options = {}) {
  return FactorGraph::from_equation(equation, shapes, options);
}
template <class Expected>
std::string error(std::string_view equation, const Shapes& shapes, const EquationOptions& options = {}) {
  return message_of<Expected>([&] { (void)graph(equation, shapes, options); });
}
std::vector<std::string> names(const FactorGraph& g, const std::vector<DimId>& dims) {
  std::vector<std::string> result;
  for (const DimId d : dims) result.push_back(g.dims()[d].name);
  return result;
}
std::vector<DimId> all(const FactorGraph& g) {
  std::vector<DimId> result;
  for (DimId d = 0; d < g.dims().size(); ++d) result.push_back(d);
  return result;
}
using Strings = std::vector<std::string>;

TEST(FromEquation, GivesDimsKindsAndSizes) {
  const FactorGraph g = graph("x,iy,nijxy->", {{2}, {5, 3}, {9, 5, 7, 2, 3}}, {.plates = "ij", .batch = "n"});
  EXPECT_EQ(names(g, all(g)), (Strings{"x", "i", "y", "n", "j"}));
  EXPECT_EQ(g.dims()[*g.find("x")].kind, DimKind::variable);
  EXPECT_EQ(g.dims()[*g.find("i")].kind, DimKind::plate);
  EXPECT_EQ(g.dims()[*g.find("n")].kind, DimKind::batch);
  EXPECT_EQ(g.dims()[*g.find("i")].size, 5);
  EXPECT_EQ(g.dims()[*g.find("j")].size, 7);
  EXPECT_EQ(g.dims()[*g.find("y")].size, 3);
  EXPECT_FALSE(g.find("z").has_value());
  ASSERT_EQ(g.factors().size(), 3U);
  EXPECT_EQ(names(g, g.factors()[2].dims), (Strings{"n", "i", "j", "x", "y"}));
  EXPECT_EQ(g.factors()[0].name, "f0");
}

TEST(FromEquation, DeclaresDimsInOrderOfAppearance) {
  const FactorGraph g =
      graph("b(t)a,c->ed", {{2, 2}, {2}}, {.plates = "qt", .sizes = {{"t", 3}, {"d", 1}, {"e", 1}, {"q", 1}}});
  EXPECT_EQ(names(g, all(g)), (Strings{"b", "t", "a", "c", "e", "d", "q"}));
}

TEST(FromEquation, SpacedNamesAndOptionsAreSpelledAlike) {
  const FactorGraph g = graph("user, user item rating -> rating", {{4}, {4, 6, 5}}, {.plates = "user, item"});
  EXPECT_EQ(g.dims()[*g.find("user")].kind, DimKind::plate);
  EXPECT_EQ(g.dims()[*g.find("item")].kind, DimKind::plate);
  EXPECT_EQ(names(g, g.outputs()[0].dims), Strings{"rating"});
}

TEST(FromEquation, TiedDimsTakeNoAxis) {
  const FactorGraph g = graph("(ts)ab,tb,sb->", {{2, 3}, {4, 3}, {5, 3}}, {.plates = "ts"});
  EXPECT_EQ(names(g, g.factors()[0].dims), (Strings{"a", "b"}));
  EXPECT_EQ(names(g, g.factors()[0].tied), (Strings{"t", "s"}));
  EXPECT_EQ(names(g, g.factor_plates(0)), (Strings{"t", "s"}));
}

TEST(FromEquation, TiedBatchDimsAreAsNotWritten) {
  const FactorGraph g = graph("(n)a,na->", {{2}, {3, 2}}, {.batch = "n"});
  EXPECT_TRUE(g.factors()[0].tied.empty());
}

TEST(FromEquation, RepeatedDimsAreADiagonal) {
  const FactorGraph g = graph("aab->", {{2, 2, 3}});
  EXPECT_EQ(names(g, g.factors()[0].dims), (Strings{"a", "a", "b"}));
  EXPECT_EQ(names(g, g.factor_variables(0)), (Strings{"a", "b"}));
}

TEST(FromEquation, UnwrittenBatchDimsLeadOutputsInDeclarationOrder) {
  const FactorGraph g = graph("mna->a,,an", {{2, 3, 4}}, {.batch = "nm"});
  EXPECT_EQ(names(g, g.outputs()[0].dims), (Strings{"m", "n", "a"}));
  EXPECT_EQ(names(g, g.outputs()[1].dims), (Strings{"m", "n"}));
  EXPECT_EQ(names(g, g.outputs()[2].dims), (Strings{"m", "a", "n"}));
}

TEST(FromEquation, ScalarsAndNoOperands) {
  EXPECT_EQ(graph(",a->", {{}, {2}}).factors().size(), 2U);
  EXPECT_EQ(graph("->", {{}}).factors().size(), 1U);
  EXPECT_EQ(graph("->", {}).factors().size(), 0U);
  EXPECT_EQ(graph(" -> a", {}, {.sizes = {{"a", 3}}}).outputs().size(), 1U);
  EXPECT_EQ(graph("a->,a", {{2}}).outputs().size(), 2U);
}

TEST(FromEquation, SizesDeclareWhatNoOperandHolds) {
  const FactorGraph g = graph("(t)a->ab", {{2}}, {.plates = "tu", .sizes = {{"t", 5}, {"b", 3}, {"u", 7}}});
  EXPECT_EQ(g.dims()[*g.find("t")].size, 5);
  EXPECT_EQ(g.dims()[*g.find("b")].kind, DimKind::variable);
  EXPECT_EQ(g.dims()[*g.find("u")].size, 7);
}

TEST(FromEquation, SizesMayRepeatWhatOperandsSay) {
  EXPECT_EQ(graph("a->", {{2}}, {.sizes = {{"a", 2}}}).dims()[0].size, 2);
}

TEST(FromEquation, SizeZeroIsASize) {
  EXPECT_EQ(graph("ix,x->", {{0, 2}, {2}}, {.plates = "i"}).dims()[0].size, 0);
  EXPECT_SAYS(error<SizeError>("ix,i->", {{0, 2}, {1}}, {.plates = "i"}), "0 on axis 0 of operand 0");
}

TEST(FromEquation, SizeMismatchNamesDimSizesAndOperands) {
  const std::string message = error<SizeError>("xy,z,iyx->", {{3, 2}, {5}, {4, 2, 7}}, {.plates = "i"});
  EXPECT_SAYS(message, "dim 'x'");
  EXPECT_SAYS(message, "3 on axis 0 of operand 0 \"xy\"");
  EXPECT_SAYS(message, "7 on axis 2 of operand 2 \"iyx\"");
}

TEST(FromEquation, SizeOneDoesNotBroadcast) {
  EXPECT_SAYS(error<SizeError>("a,a->", {{1}, {4}}), "size 1 does not broadcast");
  EXPECT_EQ(error<SizeError>("a,a->", {{2}, {4}}).find("broadcast"), std::string::npos);
}

TEST(FromEquation, DiagonalNeedsEqualSizes) {
  EXPECT_SAYS(error<SizeError>("aa->", {{2, 3}}), "2 on axis 0 of operand 0 \"aa\" and 3 on axis 1");
}

TEST(FromEquation, SizesAreCheckedAgainstOperands) {
  const std::string message = error<SizeError>("ab->", {{2, 3}}, {.sizes = {{"b", 4}}});
  EXPECT_SAYS(message, "dim 'b'");
  EXPECT_SAYS(message, "3 on axis 1 of operand 0 \"ab\" and 4 in 'sizes'");
}

TEST(FromEquation, NegativeSizesAreRefused) {
  EXPECT_SAYS(error<SizeError>("a->", {{-2}}), "negative size -2 in operand 0 \"a\"");
  EXPECT_SAYS(error<SizeError>("(t)a->", {{2}}, {.plates = "t", .sizes = {{"t", -1}}}), "negative size -1 in 'sizes'");
}

TEST(FromEquation, DimThatIsOnlyTiedNeedsASize) {
  const std::string message = error<SizeError>("(t)a->", {{2}}, {.plates = "t"});
  EXPECT_SAYS(message, "'t'");
  EXPECT_SAYS(message, "give it in 'sizes'");
}

TEST(FromEquation, UnknownNamesAreRefused) {
  EXPECT_SAYS(error<UnknownNameError>("a->b", {{2}}), "dim 'b' of an output is in no operand");
  EXPECT_SAYS(error<UnknownNameError>("a->", {{2}}, {.sizes = {{"b", 2}}}), "'b' in 'sizes' is not in the equation");
  EXPECT_SAYS(error<UnknownNameError>("a->", {{2}}, {.plates = "i"}), "'i' in 'plates' is not in the equation");
  EXPECT_SAYS(error<UnknownNameError>("a->", {{2}}, {.batch = "n"}), "'n' in 'batch' is not in the equation");
  // The two ways to spell are the likely cause, so the message says which was used.
  EXPECT_SAYS(error<UnknownNameError>("i j a->", {{2, 2, 2}}, {.plates = "ij"}), "separated by blanks");
  EXPECT_SAYS(error<UnknownNameError>("ta->", {{2, 2}}, {.plates = "time"}), "one letter per dim");
}

TEST(FromEquation, DuplicatesAreRefused) {
  EXPECT_SAYS(error<DuplicateNameError>("ab->aba", {{2, 2}}), "dim 'a' is written twice in output 0 \"aba\"");
  EXPECT_SAYS(error<DuplicateNameError>("ia->", {{2, 2}}, {.plates = "ii"}), "'i' is listed twice in 'plates'");
  EXPECT_SAYS(error<DuplicateNameError>("na->", {{2, 2}}, {.batch = "nn"}), "'n' is listed twice in 'batch'");
  EXPECT_SAYS(error<DuplicateNameError>("ia->", {{2, 2}}, {.plates = "i", .batch = "i"}), "both 'plates' and 'batch'");
  EXPECT_SAYS(error<DuplicateNameError>("(t)ta->", {{2, 2}}, {.plates = "t"}), "'t' is both an axis and tied");
  EXPECT_SAYS(error<DuplicateNameError>("(tt)a,ta->", {{2}, {3, 2}}, {.plates = "t"}), "'t' is tied twice");
}

TEST(FromEquation, VariablesCannotBeTied) {
  const std::string message = error<PlateError>("(b)a,b->", {{2}, {2}});
  EXPECT_SAYS(message, "variable 'b' is tied in operand 0 \"(b)a\"");
  EXPECT_SAYS(message, "only a plate");
}

TEST(FromEquation, WrongOperandCountNamesBoth) {
  EXPECT_SAYS(error<OperandCountError>("a,b->", {{2}}), "2 operands, but 1 were given");
  EXPECT_SAYS(error<OperandCountError>("a->", {{2}, {2}}), "1 operands, but 2 were given");
  EXPECT_SAYS(error<OperandCountError>("a->", {}), "1 operands, but 0 were given");
}

TEST(FromEquation, RankMismatchNamesOperandTermAndShape) {
  const std::string message = error<RankError>("a,(t)ab->", {{2}, {5, 2, 3}}, {.plates = "t"});
  EXPECT_SAYS(message, "operand 1 \"(t)ab\" has 2 dims");
  EXPECT_SAYS(message, "shape (5, 2, 3) has 3 axes");
}

TEST(FromEquation, OutputsThatDisagreeAreRefused) {
  const std::string message = error<PlateError>("ix->x,ix", {{3, 2}}, {.plates = "i"});
  EXPECT_SAYS(message, "\"x\" and \"ix\"");
  EXPECT_SAYS(message, "variable 'x'");
}

TEST(FromEquation, TenThousandVariablesInARowTakeMilliseconds) {
  std::string text;
  Shapes shapes;
  std::string outputs;
  for (int k = 0; k < 10000; ++k) {
    text.append(k > 0 ? ", v" : "v").append(std::to_string(k)).append(" v").append(std::to_string(k + 1));
    outputs.append(k > 0 ? ", v" : " v").append(std::to_string(k));
    shapes.push_back({2, 2});
  }
  const auto start = std::chrono::steady_clock::now();
  const FactorGraph g = graph(text + " ->" + outputs, shapes);
  EXPECT_EQ(g.dims().size(), 10001U);
  EXPECT_EQ(g.outputs().size(), 10000U);
  // About 20 ms; a quadratic scan would take seconds even in release builds.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace plated
