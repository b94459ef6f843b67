// Hessian–vector products and tangents of random chains against exact second derivatives of the oracle.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "property/blocked_from.hpp"
#include "property/chain_case.hpp"

namespace plated::test {
namespace {

testing::AssertionResult check(DrawnChain& drawn, const Bound& bound) {
  const std::vector<Tensor> cotangents = random_cotangents(drawn);
  std::vector<Tensor> direction;
  for (const Tensor& operand : drawn.tensors()) direction.push_back(signed_tensor(operand.shape(), drawn.random));
  const auto result = hessian_vector_product(drawn.plan, drawn.tensors(), direction, drawn.run(), cotangents);
  oracle::Question q = chain_question(drawn, cotangents);
  q.direction = numbers(direction);
  const oracle::Derivative exact = oracle::derivative(drawn.graph, q);
  const oracle::Derivative magnitude = oracle::derivative(drawn.graph, oracle::absolute(q));
  testing::AssertionResult good = testing::AssertionSuccess();
  for (std::size_t o = 0; o < exact.outputs.size() && good; ++o) {
    good = near("tangent " + std::to_string(o), result.tangents.at(o), shape_of(drawn.graph, drawn.graph.outputs()[o]),
                slopes_of(exact.outputs[o]), slopes_of(magnitude.outputs[o]), bound);
  }
  for (std::size_t f = 0; f < exact.gradients.size() && good; ++f) {
    good = near("product " + std::to_string(f), result.products.at(f), drawn.tensors()[f].shape(),
                slopes_of(exact.gradients[f]), slopes_of(magnitude.gradients[f]), bound);
  }
  return good;
}

class ChainHessian : public testing::TestWithParam<Semiring> {
 protected:
  void run(std::uint64_t runs, ChainDraw draw, const Bound& bound = {1e-10, 1e-300}) {
    draw.semiring = GetParam();
    draw.signs = true;
    for_each_chain(runs, draw, [&](DrawnChain& drawn) { return check(drawn, bound); });
  }
};

TEST_P(ChainHessian, TimesAVectorIsTheGradientsDerivative) { run(400, {}); }
TEST_P(ChainHessian, OfZerosIsExactAndNeverNan) { run(300, {.zero_percent = 25}); }
TEST_P(ChainHessian, InFloat32) { run(200, {.dtypes = {Dtype::float32}, .zero_percent = 5}, {5e-5, 1e-36}); }
TEST_P(ChainHessian, OfChainsInsideChains) { run(100, {.zero_percent = 5, .graphs = {.nested = true}}); }
TEST_P(ChainHessian, OfRunsInBlocksOfSlices) {
  const BlockedFrom all(0);
  run(100, {.zero_percent = 5});
  run(30, {.zero_percent = 5, .graphs = {.nested = true}});
}
TEST_P(ChainHessian, OfLargerChains) {
  run(20, {.zero_percent = 3, .graphs = {.most_work = 3e5, .small_sizes = false}});
}

INSTANTIATE_TEST_SUITE_P(Semirings, ChainHessian, testing::Values(Semiring::log, Semiring::real),
                         [](const auto& test) { return std::string(name(test.param)); });

}  // namespace
}  // namespace plated::test
