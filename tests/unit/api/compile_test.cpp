// compile: graphs without outputs, and the names of what it adds.
#include <gtest/gtest.h>

#include <cmath>

#include "plated/draw.hpp"
#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "plated/marginals.hpp"
#include "plated/plan.hpp"

namespace plated {
namespace {

using Values = std::vector<double>;

FactorGraph coins(bool batched) {
  FactorGraph graph;
  graph.plate("i", 2);
  if (batched) graph.batch("n", 3);
  graph.variable("x", 2);
  graph.factor("prior", batched ? std::vector<std::string>{"n", "x"} : std::vector<std::string>{"x"});
  graph.factor("throw", {"i", "x"});
  return graph;
}

const Tensor prior = Tensor::of<double>({2}, {0.25, 0.75});
const Tensor priors = Tensor::of<double>({3, 2}, {0.25, 0.75, 1, 0, 0, 1});
const Tensor throws = Tensor::of<double>({2, 2}, {0.5, 0.1, 0.5, 0.2});
const RunOptions real{.semiring = Semiring::real};

TEST(GraphWithoutOutputs, IsAskedForItsTotal) {
  const Plan plan = compile(coins(false));
  const std::vector<Tensor> outputs = plan.run({prior, throws}, real);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_DOUBLE_EQ(outputs[0].item(), 0.25 * 0.25 + 0.75 * 0.02);
  ASSERT_EQ(plan.graph().outputs().size(), 1U);
  EXPECT_TRUE(plan.graph().outputs()[0].dims.empty());
}

TEST(GraphWithoutOutputs, HasOneTotalForEachBatch) {
  const Plan plan = compile(coins(true));
  const std::vector<Tensor> outputs = plan.run({priors, throws}, real);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_EQ(outputs[0].shape(), Tensor::Shape{3});
  EXPECT_DOUBLE_EQ(outputs[0].at({1}), 0.25);
  EXPECT_DOUBLE_EQ(outputs[0].at({2}), 0.02);
}

TEST(GraphWithoutOutputs, IsPlannedPricedPrintedAndDrawnLikeThatOfItsTotal) {
  FactorGraph asking = coins(false);
  asking.output({});
  const Plan with = compile(asking);
  const Plan without = compile(coins(false));
  EXPECT_EQ(without.print(), with.print());
  EXPECT_EQ(without.cost().flops, with.cost().flops);
  EXPECT_EQ(without.steps(), with.steps());
  EXPECT_EQ(draw_plan_svg(without), draw_plan_svg(with));
  EXPECT_EQ(without.graph().equation(), with.graph().equation());
}

TEST(GraphWithoutOutputs, AnswersQuestions) {
  const Plan plan = compile(coins(false), {.observable = {"x"}});
  const std::vector<Tensor> operands{prior, throws};
  const ValueAndGradient answer = value_and_gradient(plan, operands, real);
  ASSERT_EQ(answer.values.size(), 1U);
  EXPECT_DOUBLE_EQ(answer.gradients[0].at({0}), 0.25);
  RunOptions seen = real;
  seen.evidence.emplace("x", Integers({}, {1}));
  EXPECT_DOUBLE_EQ(plan.run(operands, seen)[0].item(), 0.75 * 0.02);
}

TEST(GraphWithoutOutputs, IsAskedForItsTotalWithChains) {
  FactorGraph graph;
  graph.chain("t", 3);
  graph.variable("a", 2);
  graph.variable("b", 2);
  graph.link("t", "a", "b");
  graph.factor("start", {first("a")});
  graph.factor("turn", {"a", "b"}, {.tied = {"t"}});
  const std::vector<Tensor> outputs =
      compile(graph).run({prior, Tensor::of<double>({2, 2}, {0.5, 0.5, 0.5, 0.5})}, real);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_DOUBLE_EQ(outputs[0].item(), 1);
}

TEST(ObservableVariables, MayHaveAFactorThatIsNamedLikeTheirEvidence) {
  FactorGraph graph;
  graph.variable("x", 2);
  graph.factor("evidence of x", {"x"});
  graph.factor("evidence of x'", {"x"});
  const Plan plan = compile(graph, {.observable = {"x"}});
  RunOptions seen = real;
  seen.evidence.emplace("x", Integers({}, {1}));
  EXPECT_DOUBLE_EQ(plan.run({prior, prior}, seen)[0].item(), 0.75 * 0.75);
}

TEST(Compile, DropsNothingBarrenAtStatesThatAChainKnowsUnderOtherNames) {
  FactorGraph g;
  g.chain("t", 3);
  for (const char* v : {"a", "b", "w", "o"}) g.variable(v, 2);
  g.link("t", "a", "b");
  g.factor("p(start)", {"a"}, {.distribution_of = "^a"});
  g.factor("p(b|a)", {"a", "b"}, {.tied = {"t"}, .distribution_of = "b"});
  g.factor("p(w)", {"t", "w"}, {.distribution_of = "w"});
  g.factor("p(o|b)", {"t", "b", "o"}, {.distribution_of = "o"});
  g.factor("held", {plated::last("w")});
  g.factor("seen", {"t", "b"});
  g.output({});
  EXPECT_EQ(compile(g, {.sums_only = true}).dropped(), std::vector<std::string>{"o"});
}

TEST(Repairs, ArePricedWhereFactorsAreOnVariablesOfOneSliceOfAChain) {
  FactorGraph g;
  g.plate("i", 2);
  g.plate("j", 2);
  g.chain("t", 3);
  for (const char* name : {"x", "y", "a", "b", "w"}) g.variable(name, 2);
  g.link("t", "a", "b");
  g.factor("x bias", {"i", "x"});
  g.factor("y bias", {"j", "y"});
  g.factor("weights", {"i", "j", "x", "y"});
  g.factor("transition", {"a", "b"}, {.tied = {"t"}});
  g.factor("seen", {"t", "b", "w"});
  g.factor("at last", {last("w")});
  g.output({});
  try {
    (void)compile(g);
    FAIL() << "tractable";
  } catch (const IntractableError& error) {
    EXPECT_EQ(error.repairs().size(), 2U) << error.what();
  }
}

}  // namespace
}  // namespace plated
