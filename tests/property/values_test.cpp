// Outputs of random models in every semiring and element type, and in random layouts, against the unrolled graph.
#include <gtest/gtest.h>

#include "property/drawn_model.hpp"
#include "property/expect_close.hpp"

namespace plated::test {
namespace {

testing::AssertionResult check(const DrawnModel& drawn, const Plan& plan, Dtype dtype) {
  const auto expected = oracle::unrolled(drawn.graph, drawn.tensors(), drawn.semiring, drawn.c.lengths);
  const auto good = close(plan.run(drawn.tensors(), drawn.run()), expected, drawn.semiring, tolerance(dtype));
  if (good) return good;
  return testing::AssertionFailure() << good.message() << "\n" << plan.print();
}

class Values : public OfModels {};

TEST_P(Values, EqualTheUnrolledGraph) {
  Models drawn = models();
  drawn.draw.signs = true;
  for_each_model(drawn, [](const DrawnModel& one) { return check(one, one.plan, dtype()); });
}

constexpr ChainOptions nested{.nested = true}, across{.outputs_across = true};
constexpr ChainOptions nested_across{.nested = true, .outputs_across = true};

INSTANTIATE_TEST_SUITE_P(
    Of, Values,
    testing::Combine(
        testing::Values(Models{"plates", 2000}, Models{"plates_with_zeros", 1000, {.zero_percent = 35}},
                        Models{"larger_plates",
                               150,
                               {.zero_percent = 5, .graphs = CaseOptions{.most_work = 1e6, .small_sizes = false}}},
                        Models{"plates_in_blocks", 200, {.zero_percent = 5}, true},
                        Models{"chains", 700, {.graphs = ChainOptions{}}},
                        Models{"chains_with_zeros", 500, {.zero_percent = 30, .graphs = ChainOptions{}}},
                        Models{"larger_chains",
                               40,
                               {.zero_percent = 5, .graphs = ChainOptions{.most_work = 2e6, .small_sizes = false}}},
                        Models{"chains_in_chains", 200, {.zero_percent = 5, .graphs = nested}},
                        Models{"chains_in_blocks", 150, {.zero_percent = 5, .graphs = ChainOptions{}}, true},
                        Models{"chains_in_chains_in_blocks", 50, {.zero_percent = 5, .graphs = nested}, true},
                        Models{"chains_with_outputs_across", 150, {.zero_percent = 5, .graphs = across}},
                        Models{
                            "chains_in_chains_with_outputs_across", 50, {.zero_percent = 5, .graphs = nested_across}}),
        testing::Values(Semiring::real, Semiring::log, Semiring::max_plus, Semiring::min_plus, Semiring::max_product,
                        Semiring::boolean),
        both_dtypes),
    models_name);

/// Operands of both types at once; what float32 holds exactly is as precise as the rest.
class MixedValues : public OfModels {};

TEST_P(MixedValues, EqualTheUnrolledGraph) {
  Models drawn = models();
  drawn.draw.signs = true;
  drawn.draw.dtypes = {Dtype::float32, Dtype::float64};
  for_each_model(drawn, [](const DrawnModel& one) { return check(one, one.plan, Dtype::float32); });
}

INSTANTIATE_TEST_SUITE_P(
    Of, MixedValues,
    testing::Combine(testing::Values(Models{"plates", 1000, {.zero_percent = 10}},
                                     Models{"chains", 300, {.zero_percent = 5, .graphs = ChainOptions{}}}),
                     testing::Values(Semiring::real, Semiring::log, Semiring::max_plus),
                     testing::Values(Dtype::float64)),
    models_name);

TEST(Values, AreTheSameWithAnyPassLeftOut) {
  for (const std::string& pass : Plan::passes()) {
    SCOPED_TRACE("without " + pass);
    const auto checked = [&](const DrawnModel& drawn) {
      return check(drawn, compile(drawn.graph, {.without = {pass}}), Dtype::float64);
    };
    for_each_model({"plates", 40}, checked);
    for_each_model({"chains", 40, {.graphs = ChainOptions{}}}, checked);
  }
}

}  // namespace
}  // namespace plated::test
