// The table and the equation that a graph prints as.
#include <gtest/gtest.h>

#include "message_of.hpp"
#include "plated/factor_graph.hpp"

namespace plated {
namespace {

TEST(Print, IsAnAlignedTable) {
  FactorGraph g;
  g.batch("n", 4);
  g.plate("i", 100);
  g.plate("day", 7);
  g.variable("x", 2);
  g.variable("größe", 12);
  g.factor("prior", {"x"}, {.distribution_of = "x", .trusted = true});
  g.factor("likelihood", {"i", "x", "größe"}, {.tied = {"day"}, .distribution_of = "größe"});
  g.factor("c", {});
  g.output({"x"});
  g.output({"größe", "i", "day"});
  EXPECT_EQ(g.print(),
            "plates\n"
            "  i    100\n"
            "  day  7\n"
            "batch dims\n"
            "  n  4\n"
            "variables\n"
            "  x      2\n"
            "  größe  12  in i day\n"
            "factors\n"
            "  prior       x                distribution of x, trusted\n"
            "  likelihood  (day) i x größe  distribution of größe\n"
            "  c           (scalar)\n"
            "outputs\n"
            "  n x\n"
            "  n größe i day\n");
}

TEST(Print, LeavesOutWhatThereIsNot) { EXPECT_EQ(FactorGraph().print(), ""); }

TEST(Print, ShowsAnInvalidGraphAndWhatIsWrong) {
  FactorGraph g;
  g.plate("i", 2);
  g.variable("x", 2, {"i"});
  g.factor("f", {"x"});
  EXPECT_SAYS(g.print(), "factors\n  f  x\n");
  EXPECT_SAYS(g.print(), "invalid: variable 'x' is stated to be in plate 'i'");
}

TEST(Equation, HasSpacedNamesAndTiedDimsInParentheses) {
  FactorGraph g;
  g.plate("t", 2);
  g.plate("s", 2);
  g.variable("state", 2);
  g.variable("next", 2);
  g.factor("", {"state"});
  g.factor("", {"state", "next"}, {.tied = {"t", "s"}});
  g.factor("", {});
  g.factor("", {}, {.tied = {"t"}});
  g.output({});
  g.output({"next", "t"});
  EXPECT_EQ(g.equation(), "state, (t s) state next, , (t) -> , next t");
}

TEST(Equation, OfAnEmptyGraphIsAnArrow) { EXPECT_EQ(FactorGraph().equation(), "->"); }

}  // namespace
}  // namespace plated
