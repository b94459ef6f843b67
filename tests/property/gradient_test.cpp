// Gradients of random models, in every layout and for every output, against exact derivatives of the oracle.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "property/derivatives.hpp"
#include "property/drawn_equation.hpp"
#include "property/strided_target.hpp"

namespace plated::test {
namespace {

/// Values against the oracle, and more closely against the plan's own run: the sweep keeps intermediates that a run may
/// fuse away.
testing::AssertionResult check_values(const DrawnModel& drawn, const std::vector<Tensor>& got,
                                      const oracle::Derivative& exact, const oracle::Derivative& magnitude,
                                      const Bound& bound) {
  const std::vector<Tensor> ran = drawn.plan.run(drawn.tensors(), drawn.run());
  if (got.size() != ran.size()) return testing::AssertionFailure() << got.size() << " values";
  const auto compare = [&](std::size_t o, const Numbers& want, const Bound& within) {
    const Numbers size = drawn.semiring == Semiring::log ? log_magnitude(want) : values_of(magnitude.outputs[o]);
    return near("value " + std::to_string(o), got[o], shape_of(drawn.graph, drawn.graph.outputs()[o]), want, size,
                within);
  };
  for (std::size_t o = 0; o < ran.size(); ++o) {
    if (const auto good = compare(o, values_of(exact.outputs[o]), bound); !good) return good;
    const auto good = compare(o, numbers(ran[o]), {bound.relative / 10, bound.absolute});
    if (!good || got[o].dtype() != ran[o].dtype()) {
      return testing::AssertionFailure() << "differs from the run: " << good.message();
    }
  }
  return testing::AssertionSuccess();
}

/// Asks for gradients, in a random way: in fresh memory, or in the caller's with some of them not wanted.
testing::AssertionResult check(DrawnModel& drawn, const Bound& bound) {
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
  const ValueAndGradient got = value_and_gradient(drawn.plan, drawn.tensors(), drawn.run(), options);
  const oracle::Question q = question(drawn, cotangents);
  const oracle::Derivative exact = oracle::derivative(drawn.graph, q);
  const oracle::Derivative magnitude = oracle::derivative(drawn.graph, oracle::absolute(q));
  if (const auto good = check_values(drawn, got.values, exact, magnitude, bound); !good) return good;
  if (got.gradients.size() != wanted.size()) {
    return testing::AssertionFailure() << got.gradients.size() << " gradients";
  }
  for (std::size_t f = 0; f < wanted.size(); ++f) {
    const std::string what = "gradient " + std::to_string(f);
    const Tensor& gradient = got.gradients[f];
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

class Gradient : public OfModels {};

TEST_P(Gradient, IsTheDerivativeAndNeverNan) {
  Models drawn = models();
  drawn.draw.signs = true;
  for_each_model(drawn, [](DrawnModel& model) { return check(model, bound({dtype()})); });
}

constexpr ChainOptions chains{.most_work = 20000};

INSTANTIATE_TEST_SUITE_P(
    Of, Gradient,
    testing::Combine(
        testing::Values(Models{"plates", 900}, Models{"plates_with_zeros", 700, {.zero_percent = 30}},
                        Models{"larger_plates",
                               60,
                               {.zero_percent = 5, .graphs = CaseOptions{.most_work = 2e5, .small_sizes = false}}},
                        Models{"chains", 500, {.graphs = chains}},
                        Models{"chains_with_zeros", 400, {.zero_percent = 25, .graphs = chains}},
                        Models{"larger_chains",
                               20,
                               {.zero_percent = 5, .graphs = ChainOptions{.most_work = 3e5, .small_sizes = false}}},
                        Models{"chains_in_chains",
                               100,
                               {.zero_percent = 5, .graphs = ChainOptions{.most_work = 20000, .nested = true}}},
                        Models{"plates_in_blocks", 120, {.zero_percent = 5}, true},
                        Models{"chains_in_blocks", 120, {.zero_percent = 5, .graphs = chains}, true},
                        Models{"larger_chains_in_blocks",
                               10,
                               {.zero_percent = 5, .graphs = ChainOptions{.most_work = 3e5, .small_sizes = false}},
                               true},
                        Models{"chains_in_chains_in_blocks",
                               30,
                               {.zero_percent = 5, .graphs = ChainOptions{.most_work = 20000, .nested = true}},
                               true}),
        sum_semirings, both_dtypes),
    models_name);

TEST(GradientOf, MixedDtypesIsTheDerivative) {
  for (const Semiring semiring : {Semiring::log, Semiring::real}) {
    DrawOptions draw{
        .semiring = semiring, .dtypes = {Dtype::float32, Dtype::float64}, .zero_percent = 5, .signs = true};
    const auto is_derivative = [&](DrawnModel& drawn) { return check(drawn, bound(draw.dtypes)); };
    for_each_model(300, draw, is_derivative);
    draw.graphs = chains;
    for_each_model(60, draw, is_derivative);
  }
}

TEST(GradientOf, LogZIsThePosteriorOfEachFactor) {
  const auto is_posterior = [](DrawnModel& drawn) -> testing::AssertionResult {
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
    oracle::Posterior posterior(graph, drawn.tensors(), drawn.semiring, drawn.c.lengths);
    if (any_zero(posterior.table({}), Semiring::log)) return testing::AssertionSuccess();
    for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
      const Numbers want = posterior.factor(f);
      const auto good = near("posterior " + std::to_string(f), result.gradients[f], drawn.tensors()[f].shape(), want,
                             want, {1e-11, 1e-300});
      if (!good) return good;
    }
    return testing::AssertionSuccess();
  };
  for_each_model({"plates", 500, {.zero_percent = 10, .graphs = CaseOptions{.plated_outputs = false}}}, is_posterior);
  for_each_model({"chains", 100, {.zero_percent = 10, .graphs = chains}}, is_posterior);
}

TEST(GradientOf, AnEquationIsThatOfItsPlan) {
  const auto is_same = [](DrawnModel& drawn) -> testing::AssertionResult {
    const std::optional<EinsumOptions> options = comparable_equation(drawn);
    if (!options) return testing::AssertionSuccess();
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
  };
  for_each_model({"plates", 300, {.zero_percent = 5}}, is_same);
  for_each_model({"chains", 100, {.zero_percent = 5, .graphs = chains}}, is_same);
}

}  // namespace
}  // namespace plated::test
