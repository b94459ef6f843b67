// Invalid options are refused, each with a message about it.
#include <gtest/gtest.h>

#include <limits>

#include "plated/einsum.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

FactorGraph small_graph() {
  FactorGraph graph;
  graph.variable("x", 2);
  graph.variable("y", 2);
  graph.factor("f", {"x"});
  graph.factor("g", {"x", "y"}, {.distribution_of = "y"});
  graph.output({});
  return graph;
}

const std::vector<Tensor> operands{Tensor::of<double>({2}, {1, 2}), Tensor::of<double>({2, 2}, {0.25, 0.75, 0.5, 0.5})};

TEST(PlanOptions, ThatMakeNoSenseAreRefused) {
  const FactorGraph graph = small_graph();
  EXPECT_THROW((void)compile(graph, {.trials = -1}), OptionError);
  EXPECT_THROW((void)compile(graph, {.seconds = -1}), OptionError);
  EXPECT_THROW((void)compile(graph, {.seconds = std::numeric_limits<double>::quiet_NaN()}), OptionError);
  EXPECT_THROW((void)compile(graph, {.without = {"no such pass"}}), OptionError);
  EXPECT_THROW((void)compile(graph, {.search = static_cast<Search>(99)}), OptionError);
  EXPECT_NO_THROW((void)compile(graph, {.trials = 0}));
}

TEST(PlanOptions, OfAnUnlimitedSearchMayBeInfinite) {
  const Tensor vector = Tensor::of<double>({2}, {1, 2});
  const EinsumOptions options{.semiring = Semiring::real, .plan = {.seconds = std::numeric_limits<double>::infinity()}};
  EXPECT_EQ(einsum("a->", {vector}, options).item(), 3);
}

TEST(RunOptions, ThatMakeNoSenseAreRefused) {
  const Plan plan = compile(small_graph());
  EXPECT_THROW((void)plan.run(operands, {.semiring = Semiring::real, .threads = -1}), OptionError);
  EXPECT_THROW((void)plan.run(operands, {.semiring = Semiring::real, .memory_limit = -1}), OptionError);
  EXPECT_DOUBLE_EQ(plan.run(operands, {.semiring = Semiring::real})[0].item(), 3);
}

TEST(RunOptions, OfAMaximumDoNotFitAPlanOfSumsOnly) {
  const Plan plan = compile(small_graph(), {.sums_only = true});
  EXPECT_EQ(plan.dropped(), std::vector<std::string>{"y"});
  EXPECT_DOUBLE_EQ(plan.run(operands, {.semiring = Semiring::real})[0].item(), 3);
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product, Semiring::boolean}) {
    EXPECT_THROW((void)plan.run(operands, {.semiring = semiring}), OptionError);
    EXPECT_NO_THROW((void)compile(small_graph()).run(operands, {.semiring = semiring}));
  }
}

TEST(RunOptions, CheckDistributionsUnlessTrusted) {
  const std::vector<Tensor> wrong{operands[0], Tensor::of<double>({2, 2}, {0.25, 0.75, 0.5, 0.6})};
  EXPECT_THROW((void)compile(small_graph()).run(wrong, {.semiring = Semiring::real}), ValueError);
  EXPECT_NO_THROW((void)compile(small_graph()).run(wrong, {.semiring = Semiring::real, .check = Check::none}));
  EXPECT_NO_THROW((void)compile(small_graph()).run(wrong, {.semiring = Semiring::max_plus}));
}

}  // namespace
}  // namespace plated
