// The paper's examples by their numbers: 3.1/4.1/5.1 (nested plates), 3.2/4.2 (the RBM), and the equalities of
// Sec. 5.2.
#include <gtest/gtest.h>

#include "operands.hpp"

namespace plated {
namespace {

using test::every_index;
using test::random_tensor;

/// F, G, H of Example 3.1 with I = 2 and J = 3; domains of different sizes, so that no axis passes for another.
class NestedPlates : public testing::Test {
 protected:
  static constexpr std::int64_t I = 2, J = 3, X = 4, Y = 3;
  std::mt19937 random{31};
  Tensor F = random_tensor(random, {X});
  Tensor G = random_tensor(random, {I, Y});
  Tensor H = random_tensor(random, {I, J, X, Y});

  Tensor h(std::int64_t i, std::int64_t j) const { return H.select(0, i).select(0, j); }
};
using Paper = NestedPlates;

TEST_F(Paper, Example_3_1_UnrollsToTheNineFactorsOfItsFigure) {
  const FactorGraph g = FactorGraph::from_equation("x,iy,ijxy->", std::vector<Tensor::Shape>{{X}, {I, Y}, {I, J, X, Y}},
                                                   {.plates = "ij"});
  const UnrolledGraph unrolled = g.unroll();
  EXPECT_EQ(unrolled.graph.factors().size(), 9U);  // F, G1, G2, H11 … H23
  EXPECT_EQ(unrolled.graph.dims().size(), 3U);     // X, Y1, Y2
  EXPECT_EQ(unrolled.graph.components().size(), 1U);
  EXPECT_TRUE(g.variable_plates()[*g.find("x")].empty());
  EXPECT_EQ(g.variable_plates()[*g.find("y")], std::vector<DimId>{*g.find("i")});
}

TEST_F(Paper, Example_3_1_EqualsItsUnrolledEinsum) {
  for (const Semiring semiring : test::semirings) {
    // The equality of Sec. 5.2, letter by letter: y and z are Y of the two slices of i.
    EXPECT_SAME_TENSOR(einsum("x,iy,ijxy->", {F, G, H}, {.plates = "ij", .semiring = semiring}),
                       einsum("x,y,z,xy,xy,xy,xz,xz,xz->",
                              {F, G.select(0, 0), G.select(0, 1), h(0, 0), h(0, 1), h(0, 2), h(1, 0), h(1, 1), h(1, 2)},
                              {.semiring = semiring}));
  }
}

TEST_F(Paper, Example_4_1_BothSidesOfTheEquation) {
  double joint = 0;  // Σ_x Σ_y1 Σ_y2 F [∏_i G] [∏_ij H]
  every_index({X, Y, Y}, [&](const Tensor::Shape& at) {
    double term = F.at({at[0]});
    for (std::int64_t i = 0; i < I; ++i) {
      const std::int64_t y = at[1 + static_cast<std::size_t>(i)];
      term *= G.at({i, y});
      for (std::int64_t j = 0; j < J; ++j) term *= H.at({i, j, at[0], y});
    }
    joint += term;
  });
  double nested = 0;  // Σ_x F ∏_i Σ_y G ∏_j H
  for (std::int64_t x = 0; x < X; ++x) {
    double term = F.at({x});
    for (std::int64_t i = 0; i < I; ++i) {
      double sum = 0;
      for (std::int64_t y = 0; y < Y; ++y) {
        double slice = G.at({i, y});
        for (std::int64_t j = 0; j < J; ++j) slice *= H.at({i, j, x, y});
        sum += slice;
      }
      term *= sum;
    }
    nested += term;
  }
  const double value = einsum("x,iy,ijxy->", {F, G, H}, {.plates = "ij", .semiring = Semiring::real}).item();
  EXPECT_NEAR(value, joint, 1e-12 * joint);
  EXPECT_NEAR(value, nested, 1e-12 * nested);
}

TEST_F(Paper, Example_5_1_TheProgramsObservedVariableLeavesTheSameFactors) {
  // Z is observed: p(z | x, y) is a factor of x and y in both plates. p(x) and p(y) are distributions.
  FactorGraph g;
  g.plate("i", I);
  g.plate("j", J);
  g.variable("x", X);
  g.variable("y", Y);
  g.factor("p(x)", {"x"}, {.distribution_of = "x"});
  g.factor("p(y)", {"i", "y"}, {.distribution_of = "y"});
  g.factor("p(z|x,y)", {"i", "j", "x", "y"});
  g.output({});
  const auto normalised = [](const Tensor& t, std::int64_t rows, std::int64_t states) {
    std::vector<double> values = t.values();
    for (std::int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (std::int64_t s = 0; s < states; ++s) sum += values[static_cast<std::size_t>(r * states + s)];
      for (std::int64_t s = 0; s < states; ++s) values[static_cast<std::size_t>(r * states + s)] /= sum;
    }
    return Tensor::of<double>(t.shape(), values);
  };
  const std::vector<Tensor> operands{normalised(F, 1, X), normalised(G, I, Y), H};
  EXPECT_SAME_TENSOR(compile(g).run(operands, {.semiring = Semiring::real})[0],
                     einsum("x,iy,ijxy->", operands, {.plates = "ij", .semiring = Semiring::real}));
}

/// The certificate of an equation that must not plan.
Certificate certificate_of(const FactorGraph& g) {
  try {
    (void)compile(g);
  } catch (const IntractableError& error) {
    const std::string words = error.what();
    for (const std::string& name : {error.certificate().u, error.certificate().w, error.certificate().a,
                                    error.certificate().b, error.certificate().factors.front()}) {
      EXPECT_NE(words.find(name), std::string::npos) << words;
    }
    return error.certificate();
  }
  ADD_FAILURE() << "tractable:\n" << g.print();
  return {};
}

/// The restricted Boltzmann machine: x in plate i, y in plate j, one factor in both.
FactorGraph rbm(std::int64_t I, std::int64_t J) {
  FactorGraph g;
  g.plate("i", I);
  g.plate("j", J);
  g.variable("x", 2, {"i"});
  g.variable("y", 3, {"j"});
  g.factor("F", {"i", "j", "x", "y"});
  g.output({});
  return g;
}

TEST(PaperRbm, Example_3_2_IsIntractableBecauseOfItsOneFactor) {
  const Certificate certificate = certificate_of(rbm(2, 2));
  EXPECT_EQ(certificate.u, "x");
  EXPECT_EQ(certificate.w, "y");
  EXPECT_EQ(certificate.a, "i");
  EXPECT_EQ(certificate.b, "j");
  EXPECT_EQ(certificate.factors, std::vector<std::string>{"F"});
}

TEST(PaperRbm, Example_3_2_UnrollsToTheFourFactorsOfItsFigure) {
  const UnrolledGraph unrolled = rbm(2, 2).unroll();
  EXPECT_EQ(unrolled.graph.factors().size(), 4U);
  EXPECT_EQ(unrolled.graph.dims().size(), 4U);
  EXPECT_EQ(unrolled.graph.components().size(), 1U);
}

TEST(PaperRbm, Example_4_2_OnlyOneOfTheSumsCommutes) {
  constexpr std::int64_t I = 2, J = 3;
  std::mt19937 random(42);
  const Tensor F = random_tensor(random, {I, J, 2, 3});
  double expected = 0;  // Σ_x1 Σ_x2 ∏_j Σ_yj ∏_i F
  every_index({2, 2}, [&](const Tensor::Shape& x) {
    double product = 1;
    for (std::int64_t j = 0; j < J; ++j) {
      double sum = 0;
      for (std::int64_t y = 0; y < 3; ++y) sum += F.at({0, j, x[0], y}) * F.at({1, j, x[1], y});
      product *= sum;
    }
    expected += product;
  });
  // With plate i unrolled, the x of its slices are global, and plate j stays a plate.
  const UnrolledGraph unrolled = rbm(I, J).unroll("i");
  std::vector<Tensor> slices;
  for (const Slice& slice : unrolled.factors) slices.push_back(F.select(slice.index[0].first, slice.index[0].second));
  const Plan plan = compile(unrolled.graph);
  EXPECT_NEAR(plan.run(slices, {.semiring = Semiring::real})[0].item(), expected, 1e-12 * expected);
}

/// F and G of Sec. 5.2, with three slices of plate i.
class MatrixProduct : public testing::Test {
 protected:
  std::mt19937 random{52};
  Tensor F = random_tensor(random, {2, 3});
  Tensor G = random_tensor(random, {3, 3, 4});
  Tensor g(std::int64_t i) const { return G.select(0, i); }
};

TEST_F(MatrixProduct, Section_5_2_EinsumIsMatrixMultiplication) {
  std::vector<double> expected;
  every_index({2, 4}, [&](const Tensor::Shape& at) {
    double sum = 0;
    for (std::int64_t y = 0; y < 3; ++y) sum += F.at({at[0], y}) * G.at({0, y, at[1]});
    expected.push_back(sum);
  });
  EXPECT_SAME_TENSOR(einsum("xy,yz->xz", {F, g(0)}, {.semiring = Semiring::real}),
                     Tensor::of<double>({2, 4}, expected));
}

TEST_F(MatrixProduct, Section_5_2_ZIsGlobalWhereTheOutputHoldsItOutsideThePlate) {
  const FactorGraph graph =
      FactorGraph::from_equation("xy,iyz->xz", std::vector<Tensor::Shape>{{2, 3}, {3, 3, 4}}, {.plates = "i"});
  EXPECT_TRUE(graph.variable_plates()[*graph.find("z")].empty());
  for (const Semiring semiring : test::semirings) {
    EXPECT_SAME_TENSOR(einsum("xy,iyz->xz", {F, G}, {.plates = "i", .semiring = semiring}),
                       einsum("xy,yz,yz,yz->xz", {F, g(0), g(1), g(2)}, {.semiring = semiring}));
  }
}

TEST_F(MatrixProduct, Section_5_2_ZIsLocalWhereTheOutputHoldsItInThePlate) {
  const FactorGraph graph =
      FactorGraph::from_equation("xy,iyz->xiz", std::vector<Tensor::Shape>{{2, 3}, {3, 3, 4}}, {.plates = "i"});
  EXPECT_EQ(graph.variable_plates()[*graph.find("z")], std::vector<DimId>{*graph.find("i")});
  for (const Semiring semiring : test::semirings) {
    const Tensor result = einsum("xy,iyz->xiz", {F, G}, {.plates = "i", .semiring = semiring});
    // Slice i keeps its own z and sums the z of the others: p, q and r are z of the three slices.
    const char* kept[] = {"xy,yp,yq,yr->xp", "xy,yp,yq,yr->xq", "xy,yp,yq,yr->xr"};
    for (std::int64_t i = 0; i < 3; ++i) {
      EXPECT_SAME_TENSOR(result.select(1, i), einsum(kept[i], {F, g(0), g(1), g(2)}, {.semiring = semiring}));
    }
  }
}

}  // namespace
}  // namespace plated
