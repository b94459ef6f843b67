// Gradients of random plated graphs, in every layout and for every output, against exact derivatives of the oracle.
#include <gtest/gtest.h>

#include <tuple>

#include "plated/gradient.hpp"
#include "property/adjoint_case.hpp"
#include "property/derivative_question.hpp"
#include "property/strided_target.hpp"

namespace plated::test {
namespace {

/// Asks for gradients, in a random way: in fresh memory, or in the caller's with some of them not wanted.
testing::AssertionResult check(Drawn& drawn, const Bound& bound) {
  const std::vector<Tensor> cotangents = random_cotangents(drawn);
  GradientOptions options{.cotangents = cotangents, .gradients = {}};
  std::vector<StridedTarget> targets;
  std::vector<bool> wanted(drawn.tensors().size(), true);
  const bool own_memory = drawn.random.chance(40);
  for (std::size_t f = 0; own_memory && f < wanted.size(); ++f) {
    wanted[f] = drawn.random.chance(70);
    targets.emplace_back(drawn.tensors()[f].shape(), drawn.random);
    options.gradients.push_back(wanted[f] ? targets[f].tensor() : Tensor());
  }
  const ValueAndGradient result = value_and_gradient(drawn.plan, drawn.tensors(), drawn.run(), options);
  const std::vector<Tensor> values = drawn.plan.run(drawn.tensors(), drawn.run());
  if (result.values.size() != values.size() || result.gradients.size() != wanted.size()) {
    return testing::AssertionFailure() << result.values.size() << " values, " << result.gradients.size()
                                       << " gradients";
  }
  const oracle::Question q = question(drawn, cotangents);
  const oracle::Derivative exact = oracle::derivative(drawn.graph, q);
  const oracle::Derivative magnitude = oracle::derivative(drawn.graph, oracle::absolute(q));
  for (std::size_t o = 0; o < values.size(); ++o) {
    // What the plan's own run gives, to rounding: the sweep keeps intermediates that a run may fuse away.
    const Numbers ran = numbers(values[o]);
    const Numbers size = drawn.semiring == Semiring::log ? log_magnitude(ran) : values_of(magnitude.outputs[o]);
    const Bound rounding{bound.relative / 10, bound.absolute};
    const auto good = near("value " + std::to_string(o), result.values[o], values[o].shape(), ran, size, rounding);
    if (!good || result.values[o].dtype() != values[o].dtype()) {
      return testing::AssertionFailure() << "differs from the run: " << good.message();
    }
  }
  for (std::size_t f = 0; f < wanted.size(); ++f) {
    const std::string what = "gradient " + std::to_string(f);
    const Tensor& gradient = result.gradients[f];
    if (!wanted[f]) {
      if (gradient.data() != nullptr) return testing::AssertionFailure() << what << " was not wanted";
      continue;
    }
    if (own_memory) {
      if (gradient.elements() > 0 && gradient.data() != targets[f].tensor().data()) {
        return testing::AssertionFailure() << what << " is not in the caller's memory";
      }
      if (!targets[f].gaps_are_untouched()) return testing::AssertionFailure() << what << " left its entries";
    } else if (gradient.dtype() != drawn.tensors()[f].dtype()) {
      return testing::AssertionFailure() << what << " has its operand's dtype no more";
    }
    const testing::AssertionResult good = near(what, gradient, drawn.tensors()[f].shape(),
                                               values_of(exact.gradients[f]), values_of(magnitude.gradients[f]), bound);
    if (!good) {
      return testing::AssertionFailure() << good.message() << (cotangents.empty() ? ", no cotangents" : ", cotangents");
    }
  }
  return testing::AssertionSuccess();
}

class Gradient : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  void run(std::uint64_t runs, int zero_percent, const CaseOptions& graphs = {}) {
    const Draw draw{.semiring = std::get<0>(GetParam()),
                    .dtypes = {std::get<1>(GetParam())},
                    .zero_percent = zero_percent,
                    .signs = true,
                    .graphs = graphs,
                    .plan = {}};
    for_each_tractable(runs, draw, [&](Drawn& drawn) { return check(drawn, bound(draw.dtypes)); });
  }
};

TEST_P(Gradient, IsTheDerivative) { run(900, 0); }
TEST_P(Gradient, OfZerosIsTheDerivativeAndNeverNan) { run(700, 30); }
TEST_P(Gradient, OfLargerGraphsIsTheDerivative) { run(60, 5, {.most_work = 2e5, .small_sizes = false}); }

INSTANTIATE_TEST_SUITE_P(Semirings, Gradient,
                         testing::Combine(testing::Values(Semiring::log, Semiring::real),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

TEST(GradientOf, MixedDtypes) {
  for (const Semiring semiring : {Semiring::log, Semiring::real}) {
    const Draw draw{.semiring = semiring,
                    .dtypes = {Dtype::float32, Dtype::float64},
                    .zero_percent = 5,
                    .signs = true,
                    .graphs = {},
                    .plan = {}};
    for_each_tractable(300, draw, [&](Drawn& drawn) { return check(drawn, bound(draw.dtypes)); });
  }
}

TEST(GradientOf, LogZIsThePosteriorOfEachFactor) {
  Draw draw{.zero_percent = 10};
  draw.graphs.plated_outputs = false;
  for_each_tractable(500, draw, [&](Drawn& drawn) -> testing::AssertionResult {
    FactorGraph graph = drawn.graph;
    graph.output({});
    const std::optional<Plan> plan = compile_if_tractable(graph);
    if (!plan) return testing::AssertionSuccess();
    GradientOptions only_log_z;
    for (const Output& output : graph.outputs())
      only_log_z.cotangents.emplace_back(Dtype::float64, shape_of(graph, output));
    const Tensor& last = only_log_z.cotangents.back();
    for (std::int64_t k = 0; k < last.elements(); ++k) static_cast<double*>(last.mutable_data())[k] = 1;
    const auto result = value_and_gradient(*plan, drawn.tensors(), drawn.run(), only_log_z);
    oracle::Posterior posterior(graph, drawn.tensors(), drawn.semiring);
    if (any_zero(posterior.table({}), Semiring::log)) return testing::AssertionSuccess();
    for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
      const Numbers want = posterior.factor(f);
      const auto good = near("posterior " + std::to_string(f), result.gradients[f], drawn.tensors()[f].shape(), want,
                             want, {1e-11, 1e-300});
      if (!good) return good;
    }
    return testing::AssertionSuccess();
  });
}

TEST(GradientOf, AnEquationIsThatOfItsPlan) {
  for_each_tractable(300, {.zero_percent = 5}, [](Drawn& drawn) -> testing::AssertionResult {
    std::optional<EinsumOptions> options = drawn.c.equation_options();
    // With two batch dims an equation may declare them in another order, and so lead outputs with other axes.
    if (!options || drawn.of_kind(DimKind::batch).size() > 1) return testing::AssertionSuccess();
    options->threads = 1;
    const GradientOptions wanted{.cotangents = random_cotangents(drawn), .gradients = {}};
    const auto a = value_and_gradient(drawn.c.equation(), drawn.tensors(), *options, wanted);
    const auto b = value_and_gradient(drawn.plan, drawn.tensors(), drawn.run(), wanted);
    for (std::size_t f = 0; f < a.gradients.size(); ++f) {
      if (!near("gradient", a.gradients[f], b.gradients[f].shape(), numbers(b.gradients[f]), numbers(b.gradients[f]),
                {1e-9, 1e-12})) {
        return testing::AssertionFailure() << "gradient " << f << " differs";
      }
    }
    return testing::AssertionSuccess();
  });
}

TEST(GradientOf, OtherSemiringsDoesNotExist) {
  const Tensor t = Tensor::of<double>({2}, {1, 2});
  for (const Semiring semiring : {Semiring::max_plus, Semiring::min_plus, Semiring::max_product, Semiring::boolean}) {
    EXPECT_THROW((void)value_and_gradient("x->", {t}, {.semiring = semiring}), OptionError) << name(semiring);
    EXPECT_THROW((void)hessian_vector_product("x->", {t}, {t}, {.semiring = semiring}), OptionError) << name(semiring);
  }
}

TEST(GradientOf, RefusesWhatDoesNotFit) {
  const Tensor t = Tensor::of<double>({2}, {1, 2}), longer = Tensor::of<double>({3}, {1, 2, 3});
  EXPECT_THROW((void)value_and_gradient("x->x", {t}, {}, {.cotangents = {longer}, .gradients = {}}), ShapeError);
  EXPECT_THROW((void)value_and_gradient("x->x", {t}, {}, {.cotangents = {}, .gradients = {longer}}), ShapeError);
  EXPECT_THROW((void)value_and_gradient("x->x", {t}, {}, {.cotangents = {t, t}, .gradients = {}}), Error);
  EXPECT_THROW((void)value_and_gradient("x->x", {t}, {}, {.cotangents = {}, .gradients = {t, t}}), Error);
  EXPECT_THROW((void)hessian_vector_product("x->x", {t}, {longer}), ShapeError);
  EXPECT_THROW((void)hessian_vector_product("x->x", {t}, {}), Error);
}

TEST(GradientOf, OffTheDiagonalIsZero) {
  const Tensor square = Tensor::of<double>({2, 2}, {0.5, 7, -3, 1.5});
  EXPECT_EQ(value_and_gradient("xx->", {square}, {.semiring = Semiring::real}).gradients[0].values(),
            (std::vector<double>{1, 0, 0, 1}));
  const std::vector<double> p = value_and_gradient("xx->", {square}).gradients[0].values();
  EXPECT_NEAR(p[0], 1 / (1 + std::exp(1.0)), 1e-15);
  EXPECT_EQ(p[1], 0);
  EXPECT_EQ(p[2], 0);
  EXPECT_NEAR(p[3], 1 / (1 + std::exp(-1.0)), 1e-15);
}

}  // namespace
}  // namespace plated::test
