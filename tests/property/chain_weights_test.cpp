// Weights and lengths of plates around chains and inside their slices, against repeated slices and the unrolled chain.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "property/chain_case.hpp"
#include "property/expect_close.hpp"
#include "property/repeated_slices.hpp"

namespace plated::test {
namespace {

class ChainWeights : public testing::TestWithParam<Semiring> {};

TEST_P(ChainWeights, GiveTheTotalAndTheGradientsOfRepeatedSlices) {
  std::int64_t compared = 0;
  const ChainDraw draw{.semiring = GetParam(), .zero_percent = 5, .graphs = {.ragged = false}};
  for_each_chain(300, draw, [&](DrawnChain& drawn) -> testing::AssertionResult {
    const Repeated repeated(drawn, 2);
    if (repeated.weights.empty()) return testing::AssertionSuccess();
    const Plan plan = compile(drawn.graph.asking({{}}));
    std::optional<Plan> of_copies;
    try {
      of_copies = compile(repeated.graph.asking({{}}));
      (void)compile(repeated.doubled());
    } catch (const IntractableError&) {  // only for plates of one slice
      return testing::AssertionSuccess();
    }
    ++compared;
    std::vector<Tensor> operands;
    for (std::size_t f = 0; f < drawn.tensors().size(); ++f) {
      operands.push_back(repeated.spread(drawn.tensors()[f], drawn.graph.factors()[f].dims));
    }
    RunOptions weighted = drawn.run();
    weighted.weights = repeated.weights;
    const auto differ = [](const std::vector<double>& got, const std::vector<double>& want, double within) {
      for (std::size_t k = 0; k < want.size(); ++k) {
        if (got[k] != want[k] && !(std::abs(got[k] - want[k]) <= within * (1 + std::abs(want[k])))) return true;
      }
      return got.size() != want.size();
    };
    const std::vector<double> got = plan.run(drawn.tensors(), weighted)[0].values();
    const std::vector<double> want = of_copies->run(operands, drawn.run())[0].values();
    if (differ(got, want, 1e-11)) return testing::AssertionFailure() << got.at(0) << " is not " << want.at(0);
    if (GetParam() != Semiring::log || drawn.tensors().empty()) return testing::AssertionSuccess();
    const auto gradients = value_and_gradient(plan, drawn.tensors(), weighted).gradients;
    const auto others = value_and_gradient(*of_copies, operands, drawn.run()).gradients;
    for (std::size_t f = 0; f < gradients.size(); ++f) {
      if (gradients[f].elements() == 0) continue;
      const Numbers sums = repeated.gathered(others[f], drawn.graph.factors()[f].dims, true, 0);
      if (differ(gradients[f].values(), {sums.begin(), sums.end()}, 1e-9)) {
        return testing::AssertionFailure() << "the gradient of operand " << f;
      }
    }
    return testing::AssertionSuccess();
  });
  EXPECT_TRUE(compared > 0 || std::getenv("PLATED_SEED") != nullptr) << "nothing was weighted";
}

INSTANTIATE_TEST_SUITE_P(Semirings, ChainWeights, testing::Values(Semiring::real, Semiring::log, Semiring::max_plus),
                         [](const auto& of) { return std::string(name(of.param)); });

TEST(ChainPlateLengths, EqualTheUnrolledChainWithoutTheSlices) {
  std::int64_t compared = 0;
  for_each_chain(300, {.graphs = {.ragged = false}}, [&](DrawnChain& drawn) -> testing::AssertionResult {
    const oracle::Slices slices(drawn.graph, {});
    Lengths lengths;
    for (const DimId d : drawn.of_kind(DimKind::plate)) {
      Tensor::Shape shape;
      for (const DimId a : slices.around_plate(d)) shape.push_back(drawn.graph.dims()[a].size);
      Integers given(shape, 0);
      for (std::int64_t& length : given.values) length = drawn.random.below(drawn.graph.dims()[d].size + 1);
      lengths.emplace(drawn.name_of(d), std::move(given));
    }
    if (lengths.empty()) return testing::AssertionSuccess();
    RunOptions options = drawn.run();
    options.lengths = lengths;
    const Plan plan = compile(drawn.graph.asking({{}}));
    const auto expected = oracle::unrolled(drawn.graph.asking({{}}), drawn.tensors(), drawn.semiring, lengths);
    std::vector<Tensor> got;
    try {
      got = plan.run(drawn.tensors(), options);
    } catch (const IntractableError&) {  // only for plates of one slice
      return testing::AssertionSuccess();
    }
    ++compared;
    return close(got, expected, drawn.semiring, tolerance(Dtype::float64));
  });
  EXPECT_TRUE(compared > 0 || std::getenv("PLATED_SEED") != nullptr) << "nothing was compared";
}

}  // namespace
}  // namespace plated::test
