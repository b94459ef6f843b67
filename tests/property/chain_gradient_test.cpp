// Gradients of random chains against exact derivatives of the unrolled chain.
#include <gtest/gtest.h>

#include <tuple>

#include "plated/gradient.hpp"
#include "property/blocked_from.hpp"
#include "property/chain_case.hpp"
#include "property/strided_target.hpp"

namespace plated::test {
namespace {

/// Asks for gradients, in fresh memory or in the caller's with some of them not wanted.
testing::AssertionResult check(DrawnChain& drawn, const Bound& bound) {
  const std::vector<Tensor> cotangents = random_cotangents(drawn);
  GradientOptions options{.cotangents = cotangents, .gradients = {}};
  std::vector<StridedTarget> targets;
  std::vector<bool> wanted(drawn.tensors().size(), true);
  const bool own_memory = drawn.random.chance(30);
  for (std::size_t f = 0; own_memory && f < wanted.size(); ++f) {
    wanted[f] = drawn.random.chance(70);
    targets.emplace_back(drawn.tensors()[f].shape(), drawn.random);
    options.gradients.push_back(wanted[f] ? targets[f].tensor() : Tensor());
  }
  const ValueAndGradient got = value_and_gradient(drawn.plan, drawn.tensors(), drawn.run(), options);
  const oracle::Question q = chain_question(drawn, cotangents);
  const oracle::Derivative exact = oracle::derivative(drawn.graph, q);
  const oracle::Derivative magnitude = oracle::derivative(drawn.graph, oracle::absolute(q));
  for (std::size_t o = 0; o < exact.outputs.size(); ++o) {
    const Numbers want = values_of(exact.outputs[o]);
    const Numbers size = drawn.semiring == Semiring::log ? log_magnitude(want) : values_of(magnitude.outputs[o]);
    const auto good = near("value " + std::to_string(o), got.values.at(o),
                           shape_of(drawn.graph, drawn.graph.outputs()[o]), want, size, bound);
    if (!good) return good;
  }
  for (std::size_t f = 0; f < wanted.size(); ++f) {
    const std::string what = "gradient " + std::to_string(f);
    if (!wanted[f]) {
      if (got.gradients.at(f).data() != nullptr) return testing::AssertionFailure() << what << " was not wanted";
      continue;
    }
    if (own_memory && !targets[f].gaps_are_untouched())
      return testing::AssertionFailure() << what << " left its entries";
    const auto good = near(what, got.gradients.at(f), drawn.tensors()[f].shape(), values_of(exact.gradients[f]),
                           values_of(magnitude.gradients[f]), bound);
    if (good) continue;
    return testing::AssertionFailure() << good.message() << (cotangents.empty() ? ", no cotangents" : ", cotangents");
  }
  return testing::AssertionSuccess();
}

class ChainGradient : public testing::TestWithParam<std::tuple<Semiring, Dtype>> {
 protected:
  void run(std::uint64_t runs, int zero_percent, const ChainOptions& graphs = {.most_work = 20000}) {
    const ChainDraw draw{.semiring = std::get<0>(GetParam()),
                         .dtypes = {std::get<1>(GetParam())},
                         .zero_percent = zero_percent,
                         .signs = true,
                         .graphs = graphs};
    for_each_chain(runs, draw, [&](DrawnChain& drawn) { return check(drawn, bound(draw.dtypes)); });
  }
};

TEST_P(ChainGradient, IsTheDerivative) { run(500, 0); }
TEST_P(ChainGradient, OfZerosIsTheDerivativeAndNeverNan) { run(400, 25); }
TEST_P(ChainGradient, OfLargerChainsIsTheDerivative) { run(20, 5, {.most_work = 3e5, .small_sizes = false}); }
TEST_P(ChainGradient, OfChainsInsideChainsIsTheDerivative) { run(100, 5, {.most_work = 20000, .nested = true}); }
TEST_P(ChainGradient, OfRunsInBlocksOfSlicesIsTheDerivative) {
  const BlockedFrom all(0);
  run(120, 5);
  run(10, 5, {.most_work = 3e5, .small_sizes = false});
  run(30, 5, {.most_work = 20000, .nested = true});
}

INSTANTIATE_TEST_SUITE_P(Semirings, ChainGradient,
                         testing::Combine(testing::Values(Semiring::log, Semiring::real),
                                          testing::Values(Dtype::float32, Dtype::float64)),
                         test_name);

/// One number stands for every slice: its gradient is the sum of theirs.
TEST(ChainGradientOf, ATiedFactorIsTheSumOverItsSlices) {
  const Tensor prior = Tensor::of<double>({2}, {0.3, -0.2}), tied = Tensor::of<double>({2, 2}, {0.5, -1, 0.25, 0.75});
  std::vector<double> repeated;
  for (int t = 0; t < 4; ++t) {
    for (const double x : tied.values()) repeated.push_back(x);
  }
  const std::map<std::string, std::vector<std::string>> chains{{"t", {"a->b"}}};
  const auto one = value_and_gradient("a, (t) a b ->", {prior, tied}, {.chains = chains, .sizes = {{"t", 4}}});
  const auto all =
      value_and_gradient("a, t a b ->", {prior, Tensor::of<double>({4, 2, 2}, repeated)}, {.chains = chains});
  EXPECT_NEAR(one.values[0].item(), all.values[0].item(), 1e-14);
  for (std::int64_t a = 0; a < 2; ++a) {
    for (std::int64_t b = 0; b < 2; ++b) {
      double sum = 0;
      for (std::int64_t t = 0; t < 4; ++t) sum += all.gradients[1].at({t, a, b});
      EXPECT_NEAR(one.gradients[1].at({a, b}), sum, 1e-14);
    }
  }
}

}  // namespace
}  // namespace plated::test
