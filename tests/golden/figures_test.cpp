// The models of the paper's figures: 1 (directed), 2 (the sentiment CRF), 4 and 5 (the benchmark).
#include <gtest/gtest.h>

#include "operands.hpp"

namespace plated {
namespace {

using test::every_index;

const std::vector<Tensor::Shape> benchmark_shapes{{2}, {2, 3, 2}, {3, 2, 2, 3}, {2, 3, 3}, {3, 2, 2, 3}};

TEST(PaperFigures, Figure_1_LeftIsTractableAndRightIsNot) {
  // p(z | x, y) with z observed; x and y unobserved.
  for (const bool left : {true, false}) {
    FactorGraph g;
    g.plate("i", 2);
    g.plate("j", 3);
    g.variable("x", 2, left ? std::vector<std::string>{} : std::vector<std::string>{"i"});
    g.variable("y", 2, {left ? "i" : "j"});
    g.factor("p(x)", left ? std::vector<std::string>{"x"} : std::vector<std::string>{"i", "x"});
    g.factor("p(y)", {left ? "i" : "j", "y"});
    g.factor("p(z|x,y)", {"i", "j", "x", "y"});
    g.output({});
    if (left) {
      EXPECT_NO_THROW((void)compile(g));
      continue;
    }
    try {
      (void)compile(g);
      FAIL() << "tractable";
    } catch (const IntractableError& error) {
      EXPECT_EQ(error.certificate().factors, std::vector<std::string>{"p(z|x,y)"});
    }
  }
}

TEST(PaperFigures, Figure_2_TheSentimentCrfNestsItsWordsInItsAspectsAndLocations) {
  constexpr std::int64_t A = 2, L = 3, T = 4, S = 3;
  FactorGraph g;
  g.plate("aspect", A);
  g.plate("location", L);
  g.plate("t", T);
  g.variable("y", S, {"aspect", "location"});
  g.variable("z", S, {"aspect", "location", "t"});
  g.factor("F", {"aspect", "location", "t", "y", "z"});
  g.factor("G", {"aspect", "location", "t", "z"});
  g.output({});
  std::mt19937 random(3);
  const std::vector<Tensor> operands = test::random_operands(random, g);
  double expected = 1;  // ∏_al Σ_y ∏_t Σ_z F G
  every_index({A, L}, [&](const Tensor::Shape& at) {
    double sum = 0;
    for (std::int64_t y = 0; y < S; ++y) {
      double words = 1;
      for (std::int64_t t = 0; t < T; ++t) {
        double word = 0;
        for (std::int64_t z = 0; z < S; ++z) {
          word += operands[0].at({at[0], at[1], t, y, z}) * operands[1].at({at[0], at[1], t, z});
        }
        words *= word;
      }
      sum += words;
    }
    expected *= sum;
  });
  const Plan plan = compile(g);
  EXPECT_NEAR(plan.run(operands, {.semiring = Semiring::real})[0].item(), expected, 1e-12 * expected);
  EXPECT_EQ(plan.elimination_order(), (std::vector<std::string>{"z", "y"}));
  // The sentiments of one pair of aspect and location, up to the other pairs' constant: what training asks for.
  FactorGraph local = g;
  local.output({"aspect", "location", "y"});
  const std::vector<Tensor> both = compile(local).run(operands, {.semiring = Semiring::real});
  every_index({A, L}, [&](const Tensor::Shape& at) {
    double total = 0;
    for (std::int64_t y = 0; y < S; ++y) total += both[1].at({at[0], at[1], y});
    EXPECT_NEAR(total, expected, 1e-12 * expected);
  });
}

TEST(PaperFigures, Figure_4_IsTractable) {
  const FactorGraph g = FactorGraph::from_equation("a,abi,bcij,adj,deij->", benchmark_shapes, {.plates = "ij"});
  std::mt19937 random(4);
  const std::vector<Tensor> f = test::random_operands(random, g);
  // Σ_a f0 [∏_i Σ_b f1 ∏_j Σ_c f2] [∏_j Σ_d f3 ∏_i Σ_e f4]
  double expected = 0;
  for (std::int64_t a = 0; a < 2; ++a) {
    double left = 1;
    for (std::int64_t i = 0; i < 2; ++i) {
      double over_b = 0;
      for (std::int64_t b = 0; b < 3; ++b) {
        double product = f[1].at({a, b, i});
        for (std::int64_t j = 0; j < 3; ++j) product *= f[2].at({b, 0, i, j}) + f[2].at({b, 1, i, j});
        over_b += product;
      }
      left *= over_b;
    }
    double right = 1;
    for (std::int64_t j = 0; j < 3; ++j) {
      double over_d = 0;
      for (std::int64_t d = 0; d < 3; ++d) {
        double product = f[3].at({a, d, j});
        for (std::int64_t i = 0; i < 2; ++i) product *= f[4].at({d, 0, i, j}) + f[4].at({d, 1, i, j});
        over_d += product;
      }
      right *= over_d;
    }
    expected += f[0].at({a}) * left * right;
  }
  const Plan plan = compile(g);
  EXPECT_NEAR(plan.run(f, {.semiring = Semiring::real})[0].item(), expected, 1e-12 * expected);
  const double logarithm = [&] {
    std::vector<Tensor> logs;
    for (const Tensor& t : f) {
      std::vector<double> values = t.values();
      for (double& value : values) value = std::log(value);
      logs.push_back(Tensor::of<double>(t.shape(), values));
    }
    return plan.run(logs)[0].item();
  }();
  EXPECT_NEAR(logarithm, std::log(expected), 1e-12 * std::log(expected));
}

TEST(PaperFigures, Figure_4_WouldBeIntractableWithAFactorOfVAndZ) {
  std::vector<Tensor::Shape> shapes = benchmark_shapes;
  shapes.push_back({2, 2, 2, 3});
  const FactorGraph g = FactorGraph::from_equation("a,abi,bcij,adj,deij,ceij->", shapes, {.plates = "ij"});
  try {
    (void)compile(g);
    FAIL() << "tractable";
  } catch (const IntractableError& error) {
    // W (b) in plate i and Y (d) in plate j, joined through V, the new factor and Z.
    const Certificate& certificate = error.certificate();
    EXPECT_EQ(certificate.u, "b");
    EXPECT_EQ(certificate.w, "d");
    EXPECT_EQ(certificate.a, "i");
    EXPECT_EQ(certificate.b, "j");
    EXPECT_EQ(certificate.factors, (std::vector<std::string>{"f2", "f5", "f4"}));
  }
}

TEST(PaperFigures, Figure_5_PlansTheSameWhateverThePlates) {
  // The axis of the figure: I = J. Neither the order nor the steps depend on it, nor the flops of one slice.
  std::vector<std::string> order;
  std::string steps;
  double sequential = 0;
  for (const std::int64_t size : {2, 8, 512, 1000000}) {
    const std::vector<Tensor::Shape> shapes{
        {32}, {32, 32, size}, {32, 32, size, size}, {32, 32, size}, {32, 32, size, size}};
    const Plan plan = compile(FactorGraph::from_equation("a,abi,bcij,adj,deij->", shapes, {.plates = "ij"}));
    const std::string print = plan.print();
    const std::string body = print.substr(print.find("leaf"), print.find("cost:") - print.find("leaf"));
    if (order.empty()) {
      order = plan.elimination_order();
      steps = body;
      sequential = plan.cost().sequential;
    }
    EXPECT_EQ(plan.elimination_order(), order);
    EXPECT_EQ(body, steps);
    EXPECT_EQ(plan.cost().sequential, sequential);
    // Two products over each plate: of V's and W's messages, and of Z's and Y's.
    EXPECT_EQ(plan.cost().span, sequential + 4 * std::ceil(std::log2(static_cast<double>(size))));
  }
}

}  // namespace
}  // namespace plated
