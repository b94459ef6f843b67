// Questions into the caller's memory with evidence, weights and lengths: the bits of fresh answers, and no allocation.
#include <gtest/gtest.h>

#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/asked_again.hpp"
#include "property/counted_memory.hpp"

namespace plated::test {
namespace {

/// A warm loop of all questions, between which `change` changes evidence or weights, allocates nothing and gives the
/// bits of fresh answers.
template <class Change>
void expect_warm_when_changed(Asked& asked, const Change& change) {
  const Plan& plan = asked.plan;
  Tensor value(Dtype::float64, {});
  Marginals posterior, factors;
  MapResult best;
  std::map<std::string, Integers> drawn;
  std::map<std::string, Tensor> tops;
  ValueAndGradient slopes;
  Tensor nats;
  const SampleOptions draws{.count = 3, .seed = 4};
  for (int round = 0; round < 6; ++round) {
    change(round);
    allocations = 0;
    counting = round > 2;
    plan.run_into({value}, asked.operands, asked.workspace, asked.options);
    marginals_into(posterior, plan, asked.operands, asked.workspace, asked.options);
    marginals_into(factors, plan, asked.operands, asked.workspace, asked.options, {.factors = true});
    map_into(best, plan, asked.operands, asked.workspace, asked.options);
    sample_into(drawn, plan, asked.operands, draws, asked.workspace, asked.options);
    max_marginals_into(tops, plan, asked.operands, asked.workspace, asked.options);
    value_and_gradient_into(slopes, plan, asked.operands, asked.workspace, asked.options);
    entropy_into(nats, plan, asked.operands, asked.workspace, asked.options);
    counting = false;
    EXPECT_EQ(allocations, 0) << round;
    EXPECT_EQ(value, plan.run(asked.operands, asked.options)[0]) << round;
    EXPECT_EQ(posterior.variables, marginals(plan, asked.operands, asked.options).variables) << round;
    EXPECT_EQ(posterior.log_partition, marginals(plan, asked.operands, asked.options).log_partition) << round;
    expect_same(factors.factors, marginals(plan, asked.operands, asked.options, {.factors = true}).factors);
    EXPECT_EQ(best.assignment, map(plan, asked.operands, asked.options).assignment) << round;
    EXPECT_EQ(drawn, sample(plan, asked.operands, draws, asked.options)) << round;
    EXPECT_EQ(tops, max_marginals(plan, asked.operands, asked.options)) << round;
    expect_same(slopes.gradients, value_and_gradient(plan, asked.operands, asked.options).gradients);
    EXPECT_EQ(nats, entropy(plan, asked.operands, asked.options)) << round;
  }
}

/// One observation after the other is classified.
TEST(WarmEvidence, WithOtherEvidenceAllocateNothing) {
  for (const Semiring semiring : {Semiring::log, Semiring::real}) {
    const Model model("a,abi,bci->", {{2}, {2, 3, 4}, {3, 2, 4}}, "i", Dtype::float64, semiring);
    Asked asked(model, 1);
    asked.plan = compile(model.graph, {.observable = {"c", "b", "a"}});
    asked.workspace = Workspace(asked.plan);
    asked.options.semiring = semiring;
    if (semiring == Semiring::real) {
      for (const Tensor& operand : asked.operands) {
        for (double& entry : operand.span<double>()) entry = 0.25 + entry * entry;
      }
    }
    std::vector<std::int16_t> whole(4);
    std::vector<std::int8_t> part(4);
    std::int64_t one = 0;
    asked.options.evidence = {{"b", IntegerView::view(part)}, {"c", IntegerView::view(whole)}};
    const auto change = [&](int round) {
      for (std::size_t k = 0; k < 4; ++k) {
        whole[k] = static_cast<std::int16_t>((static_cast<int>(k) + round) % 2);
        part[k] = static_cast<std::int8_t>((3 * static_cast<int>(k) + round) % 4 - 1);
      }
      one = round % 2;
    };
    expect_warm_when_changed(asked, change);
    asked.options.evidence = {{"a", IntegerView::view(&one, {})}};
    expect_warm_when_changed(asked, change);
  }
}

TEST(WarmEvidence, WithOtherWeightsAllocateNothing) {
  Asked asked(Model("a,abi,bi->", {{2}, {2, 3, 4}, {3, 4}}, "i", Dtype::float64, Semiring::log), 1);
  std::vector<double> weights(4);
  float each = 0;
  const auto change = [&](int round) {
    for (std::size_t k = 0; k < 4; ++k) weights[k] = k == 2 ? 0 : 0.5 + round + static_cast<double>(k);
    each = static_cast<float>(1 + round);
  };
  asked.options.weights = {{"i", Tensor::view(weights)}};
  expect_warm_when_changed(asked, change);
  asked.options.weights = {{"i", Tensor::view(&each, {})}};
  expect_warm_when_changed(asked, change);
  // Others that the type of the last ones would round.
  asked.options.weights = {{"i", Tensor::scalar(1.1)}};
  Marginals posterior;
  marginals_into(posterior, asked.plan, asked.operands, asked.workspace, asked.options);
  EXPECT_EQ(posterior.variables, marginals(asked.plan, asked.operands, asked.options).variables);
}

/// Of chains and plates that are ragged, or of which something was observed.
TEST(WarmEvidence, WithTheSameLengthsAllocateNothing) {
  const EquationOptions hmm{.plates = "n", .chains = {{"t", {"a->b"}}}};
  const std::vector<std::int32_t> steps{5, 0, 7}, rows{2, 0, 4};
  for (const Semiring semiring : {Semiring::log, Semiring::real}) {
    const Model chain("(n) a, (n t) a b, n t b ->", {{3}, {3, 3}, {3, 7, 3}}, hmm, Dtype::float64, semiring);
    const Model plates("a,abi,bcij->", {{2}, {2, 3, 3}, {3, 2, 3, 4}}, "ij", Dtype::float64, semiring);
    for (const Model& model : {chain, plates}) {
      Asked asked(model, 1);
      asked.options.semiring = semiring;
      if (model.graph.find("t")) {
        asked.options.lengths = {{"t", IntegerView::view(steps)}};
      } else {
        asked.options.lengths = {{"j", IntegerView::view(rows)}};
      }
      expect_warm_when_changed(asked, [&](int /*round*/) {
        for (const Tensor& operand : asked.operands) {
          for (double& entry : operand.span<double>()) entry = 0.25 + entry * entry / (1 + entry * entry);
        }
      });
    }
  }
}

/// What is observed elsewhere, or of other shapes, is prepared for anew, and what is no state is refused.
TEST(WarmEvidence, ReadEvidence) {
  const Model model("a,abi->", {{2}, {2, 3, 4}}, "i", Dtype::float64, Semiring::log);
  const Plan plan = compile(model.graph, {.observable = {"b"}});
  Workspace workspace(plan);
  std::vector<std::int16_t> seen{0, 1, 2, 1};
  const RunOptions options{.evidence = {{"b", IntegerView::view(seen)}}};
  Marginals answer;
  const auto ask = [&] { marginals_into(answer, plan, model.operands, workspace, options); };
  for (const std::int16_t state : std::vector<std::int16_t>{1, 0, -1, 2, -1}) {
    seen[0] = state;
    ask();
    EXPECT_EQ(answer.variables, marginals(plan, model.operands, options).variables);
    marginals_into(answer, plan, model.operands, workspace);
    EXPECT_EQ(answer.variables, marginals(plan, model.operands).variables);
  }
  seen[0] = 3;
  EXPECT_THROW(ask(), ValueError);
  seen[0] = 2;
  ask();
  EXPECT_EQ(answer.variables, marginals(plan, model.operands, options).variables);
}

}  // namespace
}  // namespace plated::test
