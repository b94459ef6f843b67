// Evidence: observed values without a new plan.
#include "plated/evidence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "api/plan_cache.hpp"
#include "plated/error.hpp"
#include "plated/gradient.hpp"
#include "plated/map.hpp"
#include "plated/marginals.hpp"
#include "plated/sample.hpp"

namespace plated {
namespace {

using Values = std::vector<double>;
using States = std::vector<std::int64_t>;

FactorGraph graph() {
  FactorGraph g;
  g.plate("i", 3);
  g.batch("n", 2);
  g.variable("x", 2);
  g.variable("y", 2);
  g.factor("f", {"n", "x"});
  g.factor("g", {"i", "x", "y"});
  g.output({});
  return g;
}
const PlanOptions observing{.observable = {"x", "y"}};
const Tensor f = Tensor::of<double>({2, 2}, {0.5, 0.5, 0.25, 0.75});
const Tensor g = Tensor::of<double>({3, 2, 2}, {0.9, 0.1, 0.2, 0.8, 0.7, 0.3, 0.4, 0.6, 1, 0, 0, 1});
const std::vector<Tensor> operands{f, g};

RunOptions seen(Evidence evidence) { return {.semiring = Semiring::real, .evidence = std::move(evidence)}; }

void expect_near(const Tensor& tensor, const Values& want) {
  const Values got = tensor.values();
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], want[k], 1e-14) << "entry " << k;
}

TEST(Evidence, KeepsTheObservedTermsOfASum) {
  const Plan plan = compile(graph(), observing);
  EXPECT_EQ(plan.run(operands, seen({}))[0].values(), compile(graph()).run(operands, seen({}))[0].values());
  // y = (0, ·, 1): f · g[0, x, 0] · (sum over y_1) · g[2, x, 1], which is zero at x = 0.
  const Tensor total = plan.run(operands, seen({{"y", Integers({3}, {0, -1, 1})}}))[0];
  EXPECT_DOUBLE_EQ(total.values()[0], 0.5 * 0.2);
  EXPECT_DOUBLE_EQ(total.values()[1], 0.75 * 0.2);
}

TEST(Evidence, WithBatchDimsInFrontDiffersBetweenBatches) {
  const Plan plan = compile(graph(), observing);
  const Tensor each = plan.run(operands, seen({{"x", Integers({2}, {1, -1})}}))[0];
  const Tensor all = plan.run(operands, seen({{"x", Integers({}, 1)}}))[0];
  EXPECT_DOUBLE_EQ(all.values()[0], 0.5);
  EXPECT_DOUBLE_EQ(all.values()[1], 0.75);
  EXPECT_DOUBLE_EQ(each.values()[0], 0.5);
  EXPECT_DOUBLE_EQ(each.values()[1], 1);
  const Tensor slices = plan.run(operands, seen({{"y", Integers({2, 3}, {0, -1, -1, -1, 0, -1})}}))[0];
  EXPECT_DOUBLE_EQ(slices.values()[0], 0.5 * 0.9 + 0.5 * 0.2);
  EXPECT_DOUBLE_EQ(slices.values()[1], 0.25 * 0.7 + 0.75 * 0.4);
}

TEST(Evidence, IsWhatEveryQuestionHears) {
  const Plan plan = compile(graph(), observing);
  const RunOptions options = seen({{"y", Integers({3}, {1, -1, 0})}});  // the last slice says x = 0
  const Marginals p = marginals(plan, operands, options, {.factors = true});
  expect_near(p.variables.at("x"), {1, 0, 1, 0});
  expect_near(p.variables.at("y"), {0, 1, 0.7, 0.3, 1, 0, 0, 1, 0.7, 0.3, 1, 0});
  EXPECT_EQ(p.factors.size(), 2U) << "the evidence is no factor of the caller's";
  const MapResult best = map(plan, operands, options);
  EXPECT_EQ(best.assignment.at("y"), Integers({2, 3}, {1, 0, 0, 1, 0, 0}));
  const auto draws = sample(plan, operands, {.count = 20}, options);
  for (std::int64_t s = 0; s < 20; ++s) {
    for (std::int64_t n = 0; n < 2; ++n) {
      EXPECT_EQ(draws.at("x").at({s, n}), 0);
      EXPECT_EQ(draws.at("y").at({s, n, 0}), 1);
      EXPECT_EQ(draws.at("y").at({s, n, 2}), 0);
    }
  }
  const auto [values, gradients] = value_and_gradient(plan, operands, options);
  EXPECT_EQ(gradients.size(), 2U);
  EXPECT_DOUBLE_EQ(gradients[0].values()[0], 0.1);
  EXPECT_EQ(gradients[0].values()[1], 0);
  EXPECT_EQ(hessian_vector_product(plan, operands, operands, options).products.size(), 2U);
  // All that is left open is y_1 in each batch.
  const double open = -0.7 * std::log(0.7) - 0.3 * std::log(0.3);
  for (const double h : entropy(plan, operands, options).values()) EXPECT_NEAR(h, open, 1e-14);
  EXPECT_EQ(max_marginals(plan, operands, options).at("x").values()[1], 0);
  EXPECT_THROW((void)leave_one_out(plan, operands, "i", seen({{"x", Integers({}, 2)}})), ValueError);
}

TEST(Evidence, ThatIsImpossibleIsAnError) {
  const Plan plan = compile(graph(), observing);
  const RunOptions contradiction = seen({{"x", Integers({}, 0)}, {"y", Integers({3}, {-1, -1, 1})}});
  EXPECT_EQ(plan.run(operands, contradiction)[0].values(), (Values{0, 0}));
  EXPECT_THROW((void)marginals(plan, operands, contradiction), ImpossibleError);
  EXPECT_THROW((void)map(plan, operands, contradiction), ImpossibleError);
  EXPECT_THROW((void)sample(plan, operands, {}, contradiction), ImpossibleError);
  EXPECT_THROW((void)entropy(plan, operands, contradiction), ImpossibleError);
  for (const Tensor& gradient : value_and_gradient(plan, operands, contradiction).gradients) {
    for (const double x : gradient.values()) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(Evidence, IsRefusedWhereItDoesNotFit) {
  const Plan plan = compile(graph(), {.observable = {"y"}});
  const auto run = [&](const char* name, const Integers& values) { (void)plan.run(operands, seen({{name, values}})); };
  EXPECT_THROW(run("z", Integers({}, 0)), UnknownNameError);
  EXPECT_THROW(run("i", Integers({}, 0)), UnknownNameError);
  EXPECT_THROW(run("x", Integers({}, 0)), OptionError) << "not observable";
  EXPECT_THROW(run("y", Integers({}, 0)), ShapeError);
  EXPECT_THROW(run("y", Integers({2}, {0, 0})), ShapeError);
  EXPECT_THROW(run("y", Integers({3, 2}, 0)), ShapeError) << "batch dims lead";
  EXPECT_THROW(run("y", Integers({3}, {0, 2, 0})), ValueError);
  EXPECT_THROW(run("y", Integers({3}, {0, -2, 0})), ValueError);
  EXPECT_NO_THROW(run("y", Integers({3}, {0, 1, -1})));
}

TEST(Evidence, OfWhatIsNoVariableCannotBeDeclared) {
  for (const char* name : {"z", "i", "n"}) {
    EXPECT_THROW((void)compile(graph(), {.observable = {name}}), UnknownNameError);
  }
}

TEST(Evidence, IsWrittenIntoTheCallersOutputs) {
  const Plan plan = compile(graph(), observing);
  Workspace workspace(plan);
  const std::vector<Tensor> outputs{Tensor(Dtype::float64, {2})};
  plan.run_into(outputs, operands, workspace, seen({{"x", Integers({}, 1)}}));
  EXPECT_EQ(outputs[0].values(), (Values{0.5, 0.75}));
  plan.run_into(outputs, operands, workspace, seen({}));
  EXPECT_EQ(outputs[0].values(), plan.run(operands, seen({}))[0].values());
}

TEST(Evidence, IsReadInPlaceInAnyTypeAndStrides) {
  const Plan plan = compile(graph(), observing);
  const auto value = [&](IntegersByName evidence) {
    return plan.run(operands, {.semiring = Semiring::real, .evidence = std::move(evidence)})[0].values();
  };
  const Values want = value({{"y", Integers({3}, {0, -1, 1})}, {"x", 1}});
  std::vector<std::int8_t> bytes{0, -1, 1};
  const std::vector<std::int32_t> apart{1, 9, -1, 9, 0};
  EXPECT_EQ(value({{"y", IntegerView::view(bytes)}, {"x", 1}}), want);
  EXPECT_EQ(value({{"y", IntegerView::view(apart.data() + 4, {3}, {-2})}, {"x", 1U}}), want);
  const RunOptions options{.semiring = Semiring::real, .evidence = {{"y", IntegerView::view(bytes)}, {"x", 1}}};
  bytes[1] = 0;  // is seen by the next run
  EXPECT_EQ(plan.run(operands, options)[0].values(), value({{"y", Integers({3}, {0, 0, 1})}, {"x", 1}}));
  EXPECT_THROW((void)value({{"x", IntegerView()}}), NullDataError);
  const std::vector<std::uint64_t> beyond{~std::uint64_t{0}};  // not -1
  EXPECT_THROW((void)value({{"x", IntegerView::view(beyond.data(), {})}}), ValueError);
}

TEST(Evidence, OfAnEquationNeedNotBeAnnounced) {
  const EinsumOptions told{
      .plates = "i", .semiring = Semiring::real, .plan = {.observable = {"y"}}, .evidence = {{"y", Integers({3}, 1)}}};
  EinsumOptions untold = told;
  untold.plan.observable.clear();
  const Tensor prior = Tensor::of<double>({2}, {0.25, 0.75});
  EXPECT_EQ(einsum("x,ixy->", {prior, g}, untold), einsum("x,ixy->", {prior, g}, told));
  EXPECT_EQ(marginals("x,ixy->", {prior, g}, untold).variables, marginals("x,ixy->", {prior, g}, told).variables);
  EXPECT_EQ(map("x,ixy->", {prior, g}, untold).assignment.at("y").values, (States{1, 1, 1}));
  untold.evidence = {{"q", 0}};
  EXPECT_THROW((void)einsum("x,ixy->", {prior, g}, untold), UnknownNameError);
}

TEST(Equations, AreWatched) {
  const Tensor prior = Tensor::of<double>({2}, {0.25, 0.75});
  std::vector<double> shares;
  (void)einsum("x,ixy->", {prior, g}, {.plates = "i", .progress = [&](double share) { shares.push_back(share); }});
  ASSERT_FALSE(shares.empty());
  EXPECT_EQ(shares.back(), 1);
  const EinsumOptions stopped{.plates = "i", .cancelled = [] { return true; }};
  EXPECT_THROW((void)einsum("x,ixy->", {prior, g}, stopped), CancelledError);
  EXPECT_THROW((void)marginals("x,ixy->", {prior, g}, stopped), CancelledError);
}

TEST(PlanCache, TellsObservablesApart) {
  const Tensor pair(Dtype::float64, {2, 2});
  const auto identity = [&](std::vector<std::string> observable) {
    return &api::cached_plan("xy->", {pair}, {.plan = {.observable = std::move(observable)}}).graph();
  };
  EXPECT_EQ(identity({"x"}), identity({"x"}));
  EXPECT_NE(identity({"x"}), identity({}));
  EXPECT_NE(identity({"x"}), identity({"y"}));
  EXPECT_NE(identity({"x"}), identity({"x", "y"}));
  // What is observed is no part of the plan.
  const EinsumOptions zero{
      .semiring = Semiring::real, .plan = {.observable = {"x"}}, .evidence = {{"x", Integers({}, 0)}}};
  EinsumOptions one = zero;
  one.evidence["x"] = 1;
  EXPECT_EQ(&api::cached_plan("xy->", {pair}, zero).graph(), &api::cached_plan("xy->", {pair}, one).graph());
  const Tensor counts = Tensor::of<double>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(einsum("xy->", {counts}, zero).item(), 3);
  EXPECT_EQ(einsum("xy->", {counts}, one).item(), 7);
}

}  // namespace
}  // namespace plated
