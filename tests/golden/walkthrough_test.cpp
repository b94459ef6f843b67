// Appendix C of the paper, line by line: how Algorithm 1 fails on the RBM, and how it runs on the benchmark's model.
#include <gtest/gtest.h>

#include "operands.hpp"

namespace plated {
namespace {

TEST(PaperWalkthrough, Appendix_C_1_FailsWhereTheNextPlateSetIsTheLeafItself) {
  FactorGraph g;
  g.plate("a", 2);
  g.plate("b", 2);
  g.variable("x", 2, {"a"});
  g.variable("y", 2, {"b"});
  g.factor("f_xy", {"a", "b", "x", "y"});
  g.output({});
  // L = {a, b}, V_c = {}, F_c = {f_xy}, V_f = {x, y}; L′ = P(x) ∪ P(y) = {a} ∪ {b} = L.
  try {
    (void)compile(g);
    FAIL() << "tractable";
  } catch (const IntractableError& error) {
    EXPECT_EQ(error.certificate().u, "x");
    EXPECT_EQ(error.certificate().w, "y");
    EXPECT_EQ(error.certificate().a, "a");
    EXPECT_EQ(error.certificate().b, "b");
    EXPECT_EQ(error.certificate().factors, std::vector<std::string>{"f_xy"});
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("intractable: variable 'x' is in plate 'a' but not in 'b', variable 'y' is in plate "
                                 "'b' but not in 'a', and factors in both plates join them: f_xy. The cost would be "
                                 "exponential in a plate's size. Unrolling plate '"))
        << error.what();
  }
}

/// The model of Appendix C.2 in the order and with the names of the paper.
FactorGraph experimental_model() {
  FactorGraph g;
  for (const char* plate : {"a", "b"}) g.plate(plate, 4);
  for (const char* variable : {"v", "w", "x", "y", "z"}) g.variable(variable, 8);
  g.factor("f_vw", {"a", "b", "v", "w"});
  g.factor("f_wx", {"a", "w", "x"});
  g.factor("f_x", {"x"});
  g.factor("f_xy", {"b", "x", "y"});
  g.factor("f_yz", {"a", "b", "y", "z"});
  g.output({});
  return g;
}

TEST(PaperWalkthrough, Appendix_C_2_PlatesOfTheVariablesAreThePapers) {
  const FactorGraph g = experimental_model();
  const DimId a = *g.find("a"), b = *g.find("b");
  const auto plates = g.variable_plates();
  EXPECT_EQ(plates[*g.find("v")], (std::vector<DimId>{a, b}));
  EXPECT_EQ(plates[*g.find("w")], (std::vector<DimId>{a}));
  EXPECT_EQ(plates[*g.find("x")], (std::vector<DimId>{}));
  EXPECT_EQ(plates[*g.find("y")], (std::vector<DimId>{b}));
  EXPECT_EQ(plates[*g.find("z")], (std::vector<DimId>{a, b}));
}

TEST(PaperWalkthrough, Appendix_C_2_ThePlanPrintsAsTheWalkThrough) {
  const std::string print = compile(experimental_model()).print();
  const std::size_t end = print.find("cost:");
  ASSERT_NE(end, std::string::npos);
  // m1 is the paper's f̂_w, m2 f̂_y, m3 f̂_x and m4 f̂_x′. The paper's P(f̂_w) = {a, b} should read {a}, and the last
  // SumProduct holds f̂_x, not f̂_w.
  EXPECT_EQ(print.substr(0, end),
            "plan for a b v w, a w x, x, b x y, a b y z ->\n"
            "variables v = 8, w = 8, x = 8, y = 8, z = 8\n"
            "plates a = 4, b = 4\n"
            "leaf L = {a, b}\n"
            "  V_c = {v}, F_c = {f_vw}, V_f = {w}, L′ = {a}\n"
            "     1  m1[a, w] = Product{b} SumProduct{v}(f_vw)\n"
            "  V_c = {z}, F_c = {f_yz}, V_f = {y}, L′ = {b}\n"
            "     2  m2[b, y] = Product{a} SumProduct{z}(f_yz)\n"
            "leaf L = {a}\n"
            "  V_c = {w}, F_c = {f_wx, m1[a, w]}, V_f = {x}, L′ = {}\n"
            "     3  m3[x] = Product{a} SumProduct{w}(m1[a, w], f_wx)\n"
            "leaf L = {b}\n"
            "  V_c = {y}, F_c = {f_xy, m2[b, y]}, V_f = {x}, L′ = {}\n"
            "     4  m4[x] = Product{b} SumProduct{y}(m2[b, y], f_xy)\n"
            "leaf L = {}\n"
            "  V_c = {x}, F_c = {f_x, m3[x], m4[x]}, V_f = {}, to the scalars S\n"
            "     5  output0[] = SumProduct{x}(f_x, m3[x], m4[x])\n");
}

TEST(PaperWalkthrough, Appendix_C_2_VariablesGoInThePapersOrder) {
  EXPECT_EQ(compile(experimental_model()).elimination_order(), (std::vector<std::string>{"v", "z", "w", "y", "x"}));
}

}  // namespace
}  // namespace plated
