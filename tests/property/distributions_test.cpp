// Factors that are declared to be distributions: checked, and left out with their barren variables.
#include <gtest/gtest.h>

#include <cmath>

#include "plated/plated.hpp"
#include "unit/graph/message_of.hpp"

namespace plated {
namespace {

using test::message_of;

TEST(ConditionalFactors, MustSumToOne) {
  FactorGraph g;
  g.variable("x", 2);
  g.variable("y", 2);
  g.factor("p(x)", {"x"}, {.distribution_of = "x"});
  g.factor("p(y|x)", {"x", "y"}, {.distribution_of = "y"});
  g.output({"x"});
  const Plan plan = compile(g);
  const Tensor px = Tensor::of<double>({2}, {0.25, 0.75});
  const Tensor wrong = Tensor::of<double>({2, 2}, {0.5, 0.5, 0.5, 0.6});
  const Tensor right = Tensor::of<double>({2, 2}, {0.5, 0.5, 0.4, 0.6});
  const RunOptions real{.semiring = Semiring::real};
  const std::string message = message_of<ValueError>([&] { (void)plan.run({px, wrong}, real); });
  EXPECT_SAYS(message, "'p(y|x)'");
  EXPECT_SAYS(message, "distribution of 'y'");
  EXPECT_SAYS(message, "x = 1");
  EXPECT_SAYS(message, "1.1");
  EXPECT_EQ(plan.run({px, right}, real)[0].values(), (std::vector<double>{0.25, 0.75}));
  // In log space the entries are logarithms; in the other semirings a sum means nothing.
  EXPECT_THROW((void)plan.run({px, right}), ValueError);
  EXPECT_NO_THROW((void)plan.run({px, wrong}, {.semiring = Semiring::max_product}));
  EXPECT_NO_THROW((void)plan.run({px, wrong}, {.semiring = Semiring::real, .check = Check::none}));
  // Rounded as files round.
  EXPECT_NO_THROW((void)plan.run({px, Tensor::of<double>({2, 2}, {0.5, 0.500001, 0.4, 0.6})}, real));
}

TEST(ConditionalFactors, ADistributionOverNothingSumsToZero) {
  FactorGraph g;
  g.variable("x", 0);
  g.factor("p(x)", {"x"}, {.distribution_of = "x"});
  g.output({});
  EXPECT_SAYS(message_of<ValueError>(
                  [&] { (void)compile(g).run({Tensor(Dtype::float64, {0})}, {.semiring = Semiring::real}); }),
              "sums to 0");
}

TEST(ConditionalFactors, GiveTheSameValuesWithAndWithoutTheirBarrenVariables) {
  // x → y → z in plate i and a leaf w; asked for x and the total.
  FactorGraph g;
  g.plate("i", 3);
  g.variable("x", 2);
  g.variable("y", 2);
  g.variable("z", 2);
  g.variable("w", 3);
  g.factor("p(x)", {"x"});
  g.factor("p(y|x)", {"i", "x", "y"}, {.distribution_of = "y"});
  g.factor("p(z|y)", {"i", "y", "z"}, {.distribution_of = "z"});
  g.factor("p(w|x)", {"x", "w"}, {.distribution_of = "w"});
  g.output({"x"});
  g.output({});
  std::vector<double> y;
  for (int row = 0; row < 6; ++row) y.insert(y.end(), {0.1 * row + 0.2, 0.8 - 0.1 * row});
  const std::vector<Tensor> real{Tensor::of<double>({2}, {0.5, 2}), Tensor::of<double>({3, 2, 2}, y),
                                 Tensor::of<double>({3, 2, 2}, y),
                                 Tensor::of<double>({2, 3}, {0.2, 0.3, 0.5, 0.1, 0.1, 0.8})};
  std::vector<Tensor> logs;
  for (const Tensor& t : real) {
    std::vector<double> values = t.values();
    for (double& value : values) value = std::log(value);
    logs.push_back(Tensor::of<double>(t.shape(), values));
  }
  const Plan whole = compile(g);
  const Plan pruned = compile(g, {.sums_only = true});
  EXPECT_EQ(pruned.dropped(), (std::vector<std::string>{"y", "z", "w"}));
  EXPECT_LT(pruned.cost().flops, whole.cost().flops);
  for (const bool log : {false, true}) {
    const RunOptions options{.semiring = log ? Semiring::log : Semiring::real};
    const auto expected = whole.run(log ? logs : real, options);
    const auto actual = pruned.run(log ? logs : real, options);
    for (std::size_t o = 0; o < 2; ++o) {
      for (std::size_t k = 0; k < expected[o].values().size(); ++k) {
        EXPECT_NEAR(actual[o].values()[k], expected[o].values()[k], 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace plated
