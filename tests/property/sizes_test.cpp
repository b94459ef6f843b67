// One plan serves plates and chains of any size: it gives the bits of a plan made for the sizes at hand, and plans
// nothing.
#include <gtest/gtest.h>

#include <map>

#include "planner/planner.hpp"
#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"
#include "property/drawn_model.hpp"

namespace plated::test {
namespace {

/// The answers to every question, as numbers; where there are none, why.
std::vector<std::vector<double>> answers(const Plan& plan, const std::vector<Tensor>& operands,
                                         const RunOptions& options, std::string& refused) {
  std::vector<std::vector<double>> list;
  const auto add = [&](const std::vector<Tensor>& tensors) {
    for (const Tensor& t : tensors) list.push_back(t.values());
  };
  try {
    add(plan.run(operands, options));
    add(value_and_gradient(plan, operands, options).gradients);
    const bool chained = !plan.graph().chains().empty();
    const Marginals posterior = marginals(plan, operands, options, {.factors = true, .ends = chained});
    for (const auto& [name, tensor] : posterior.variables) add({tensor});
    add(posterior.factors);
    for (const bool filtered : {false, true}) {
      const Marginals in_logs = marginals(plan, operands, options, {.filtered = filtered && chained, .log = true});
      for (const auto& [name, tensor] : in_logs.variables) add({tensor});
    }
    add(hessian_vector_product(plan, operands, operands, options).products);
    add({entropy(plan, operands, options), expectation(plan, operands, operands, options)});
    for (const auto& [name, tensor] : max_marginals(plan, operands, options)) add({tensor});
    for (const auto& [name, states] : map(plan, operands, options).assignment) {
      list.emplace_back(states.values.begin(), states.values.end());
    }
    for (const auto& [name, states] : sample(plan, operands, {.count = 3, .seed = 7}, options)) {
      list.emplace_back(states.values.begin(), states.values.end());
    }
    for (const Dim& dim : plan.graph().dims()) {
      if (dim.kind == DimKind::plate) add({leave_one_out(plan, operands, dim.name, options)});
    }
  } catch (const ImpossibleError& error) {
    refused = error.what();
  }
  return list;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
           return x == y || (std::isnan(x) && std::isnan(y));
         });
}

/// Other sizes for all plates, batch dims and chains of a graph.
struct Resized {
  Resized(const FactorGraph& graph, Random& random) {
    for (const Dim& dim : graph.dims()) {
      const bool chain = dim.kind == DimKind::chain;  // whose slices have ends
      sizes.push_back(dim.kind == DimKind::variable ? dim.size : chain ? 1 + random.below(4) : random.below(4));
      if (dim.kind != DimKind::variable) options.sizes[dim.name] = sizes.back();
    }
  }
  std::vector<std::int64_t> sizes;
  RunOptions options;
};

testing::AssertionResult serves_them_all(const Case& c) {
  const FactorGraph graph = c.build();
  std::optional<Plan> plan;
  try {
    plan = compile(graph);
  } catch (const IntractableError&) {
    return testing::AssertionSuccess();
  }
  Random random(c.seed + 1);
  for (int trial = 0; trial < 3; ++trial) {
    const Resized other(graph, random);
    const FactorGraph resized = graph.resized(other.sizes);
    std::optional<Plan> own;
    try {
      own = compile(resized);
    } catch (const IntractableError&) {
      continue;  // it has only a single slice where it was compiled
    }
    const Operands operands(resized, random, {.semiring = Semiring::log});
    std::string refused_own, refused;
    const auto want = answers(*own, operands.tensors(), {}, refused_own);
    const auto got = answers(*plan, operands.tensors(), other.options, refused);
    if (refused != refused_own) return testing::AssertionFailure() << c.print() << refused << " / " << refused_own;
    for (std::size_t k = 0; k < want.size(); ++k) {
      if (!same_bits(got.at(k), want[k])) return testing::AssertionFailure() << c.print() << "\nanswer " << k;
    }
  }
  return testing::AssertionSuccess();
}

TEST(Sizes, OnePlanServesThemAll) {
  for_each_seed(400, [](std::uint64_t seed) { return serves_them_all(random_case(seed, {.most_work = 2000})); });
  for_each_seed(60, [](std::uint64_t seed) {
    return serves_them_all(random_chain(seed, {.most_work = 2000, .ragged = false, .nested = seed % 4 == 0}));
  });
}

class PlannedOnce : public OfModels {};

TEST_P(PlannedOnce, QuestionsAreAskedAgainAtOtherSizes) {
  for_each_model(models(), [](DrawnModel& drawn) -> testing::AssertionResult {
    std::string refused;
    (void)answers(drawn.plan, drawn.tensors(), drawn.run(), refused);
    if (!refused.empty()) return testing::AssertionFailure() << refused;
    for (int trial = 0; trial < 3; ++trial) {
      Resized other(drawn.graph, drawn.random);
      const FactorGraph resized = drawn.graph.resized(other.sizes);
      const Operands operands(resized, drawn.random, {.semiring = Semiring::log});
      const std::uint64_t before = planner::plans_made;
      (void)answers(drawn.plan, operands.tensors(), other.options, refused);
      if (!refused.empty()) return testing::AssertionFailure() << refused;
      if (planner::plans_made == before) continue;
      return testing::AssertionFailure() << planner::plans_made - before << " plans were made at sizes "
                                         << testing::PrintToString(other.sizes);
    }
    return testing::AssertionSuccess();
  });
}

INSTANTIATE_TEST_SUITE_P(
    Of, PlannedOnce,
    testing::Combine(
        testing::Values(
            Models{"plates", 200, {.graphs = CaseOptions{.most_work = 2000, .small_sizes = false}}},
            Models{"chains", 100, {.graphs = ChainOptions{.most_work = 2000, .ragged = false, .small_sizes = false}}},
            Models{"chains_in_chains",
                   50,
                   {.graphs = ChainOptions{.most_work = 2000, .ragged = false, .small_sizes = false, .nested = true}}}),
        testing::Values(Semiring::log), testing::Values(Dtype::float64)),
    models_name);

TEST(Sizes, OfAnUntiedModelAreTheOperands) {
  const Plan plan =
      compile("x,ixy->", {Tensor(Dtype::float64, {3}), Tensor(Dtype::float64, {100, 3, 2})}, {.plates = "i"});
  const std::uint64_t before = planner::plans_made;
  for (const std::int64_t slices : {100, 37, 1, 0, 5}) {
    const double want = std::log(3.0) + static_cast<double>(slices) * std::log(2.0);
    const std::vector<Tensor> operands{Tensor(Dtype::float64, {3}), Tensor(Dtype::float64, {slices, 3, 2})};
    EXPECT_NEAR(plan.run(operands)[0].item(), want, 1e-12);
    EXPECT_NEAR(einsum("x,ixy->", operands, {.plates = "i"}).item(), want, 1e-12);
  }
  EXPECT_EQ(planner::plans_made - before, 1U) << "only for the first run";
}

TEST(Sizes, DisagreeingOperandsAreRefused) {
  FactorGraph g;
  g.plate("i", 4);
  g.variable("x", 2);
  g.factor("f", {"i", "x"});
  g.factor("g", {"x", "i"});
  const Plan plan = compile(g);
  const Tensor three(Dtype::float64, {3, 2}), four(Dtype::float64, {2, 4}), wide(Dtype::float64, {3, 5});
  EXPECT_THROW((void)plan.run({three, four}), SizeError);
  EXPECT_THROW((void)plan.run({wide, four}), SizeError) << "a domain is not a size";
  EXPECT_THROW((void)plan.run({three, Tensor(Dtype::float64, {2, 3})}, {.sizes = {{"i", 4}}}), SizeError);
  EXPECT_THROW((void)plan.run({three, Tensor(Dtype::float64, {2, 3})}, {.sizes = {{"j", 3}}}), UnknownNameError);
  EXPECT_NO_THROW((void)plan.run({three, Tensor(Dtype::float64, {2, 3})}, {.sizes = {{"i", 3}, {"x", 2}}}));
}

TEST(Sizes, APlateThatMadeAModelTractableCannotGrow) {
  FactorGraph g;
  g.plate("i", 1);
  g.plate("j", 3);
  g.variable("x", 2, {"i"});
  g.variable("y", 2, {"j"});
  g.factor("F", {"i", "j", "x", "y"});
  const Plan plan = compile(g);
  EXPECT_NEAR(plan.run({Tensor(Dtype::float64, {1, 3, 2, 2})})[0].item(), 4 * std::log(2.0), 1e-12);
  EXPECT_NEAR(plan.run({Tensor(Dtype::float64, {1, 7, 2, 2})})[0].item(), 8 * std::log(2.0), 1e-12);
  EXPECT_THROW((void)plan.run({Tensor(Dtype::float64, {2, 3, 2, 2})}), IntractableError);
}

TEST(Sizes, OfTiedPlatesAreGivenByName) {
  FactorGraph g;
  g.plate("i", 5);
  g.variable("x", 2, {});
  g.factor("f", {"x"}, {.tied = {"i"}});
  const Plan plan = compile(g);
  const Tensor f = Tensor::of<double>({2}, {0.5, -1.0});
  const auto total = [](double n) { return std::log(std::exp(0.5 * n) + std::exp(-1.0 * n)); };
  EXPECT_NEAR(plan.run({f})[0].item(), total(5), 1e-12);
  EXPECT_NEAR(plan.run({f}, {.sizes = {{"i", 3}}})[0].item(), total(3), 1e-12);
  EXPECT_NEAR(plan.run({f}, {.sizes = {{"i", 0}}})[0].item(), total(0), 1e-12);
  EXPECT_EQ(value_and_gradient(plan, std::vector{f}, {.sizes = {{"i", 0}}}).gradients[0].values(),
            (std::vector<double>{0, 0}));
}

TEST(Questions, ArePlannedOnce) {
  const std::vector<Tensor> operands{Tensor(Dtype::float64, {3}), Tensor(Dtype::float64, {10, 3, 2})};
  FactorGraph g;
  g.plate("i", 10);
  g.variable("x", 3);
  g.variable("y", 2);
  g.factor("f", {"x"});
  g.factor("g", {"i", "x", "y"});
  std::uint64_t before = planner::plans_made;
  const Plan plan = compile(g);
  EXPECT_EQ(planner::plans_made, before) << "nobody has asked for a value";
  (void)marginals(plan, operands);
  EXPECT_EQ(planner::plans_made - before, 1U);
  (void)marginals(plan, operands);
  (void)entropy(plan, operands);
  (void)value_and_gradient(plan, operands);
  EXPECT_EQ(planner::plans_made - before, 1U) << "they continue the same forward run";
  before = planner::plans_made;
  const Plan named = compile(g, {.questions = {{.kind = Question::Kind::map}}});
  EXPECT_EQ(planner::plans_made - before, 1U);
  (void)map(named, operands);
  EXPECT_EQ(planner::plans_made - before, 1U);
}

TEST(Questions, AreValues) {
  const Question a{.kind = Question::Kind::marginals, .wanted = {.sets = {{"x", "y"}}}};
  Question b = a;
  EXPECT_EQ(a, b);
  EXPECT_EQ(std::hash<Question>{}(a), std::hash<Question>{}(b));
  b.wanted.sets[0].pop_back();
  EXPECT_NE(a, b);
  EXPECT_NE(std::hash<Question>{}(a), std::hash<Question>{}(b));
  EXPECT_EQ(question_kind("leave_one_out"), Question::Kind::leave_one_out);
  EXPECT_EQ(name(Question::Kind::gradient), "gradient");
  EXPECT_THROW((void)question_kind("posterior"), OptionError);
}

TEST(Questions, ArePricedAndPrintedAtAnySize) {
  const Plan plan =
      compile("x,ixy->", {Tensor(Dtype::float64, {3}), Tensor(Dtype::float64, {100, 3, 2})}, {.plates = "i"});
  const Question posterior{.kind = Question::Kind::marginals};
  EXPECT_GT(plan.cost(posterior).flops, plan.cost().flops);
  EXPECT_GT(plan.cost(posterior).exps, plan.cost().exps);
  EXPECT_NEAR(plan.cost(posterior, {{"i", 1000}}).flops / plan.cost(posterior).flops, 10, 0.5);
  EXPECT_NE(plan.print(posterior).find("Weigh"), std::string::npos) << plan.print(posterior);
  EXPECT_EQ(plan.print().find("Weigh"), std::string::npos);
}

}  // namespace
}  // namespace plated::test
