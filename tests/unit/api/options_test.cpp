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
  EXPECT_THROW((void)compile(graph, {.memory_limit = -1}), OptionError);
  EXPECT_NO_THROW((void)compile(graph, {.trials = 0}));
}

TEST(PlanOptions, MemoryLimitSteersTheOrder) {
  // By way of (a, c) it takes the fewest operations, by way of (b, d) the least memory.
  const std::vector<Tensor::Shape> shapes{{16, 64}, {64, 20000}, {20000, 64}, {64, 16}};
  std::vector<Tensor> operands;
  for (const Tensor::Shape& shape : shapes) operands.emplace_back(Dtype::float64, shape);
  const auto cost = [&](std::int64_t limit) {
    return compile("ab,bc,cd,da->", operands, {.plan = {.memory_limit = limit}}).cost({}, {}, Dtype::float64);
  };
  const Cost cheapest = cost(0);
  EXPECT_GE(cheapest.peak_bytes, 16 * 20000 * 8);
  const Cost fitting = cost(1 << 18);
  EXPECT_LE(fitting.peak_bytes, 1 << 18);
  EXPECT_GT(fitting.flops, cheapest.flops);
  // A run of the first is refused, one of the second is not.
  const RunOptions options{.semiring = Semiring::real, .threads = 1, .memory_limit = 2 << 20};
  EXPECT_THROW((void)compile("ab,bc,cd,da->", operands).run(operands, options), MemoryLimitError);
  EXPECT_NO_THROW((void)compile("ab,bc,cd,da->", operands, {.plan = {.memory_limit = 1 << 18}}).run(operands, options));
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
