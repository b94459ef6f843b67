// Long chains of few states: parts of them run at once, and smoothed in real space where it has the range.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "plated/marginals.hpp"
#include "property/chain_forward_backward.hpp"
#include "property/random_tensor.hpp"

namespace plated::test {
namespace {

const EinsumOptions hmm{.chains = {{"t", {"a->b"}}}};
const char* const equation = "a, (t) a b, t b ->";

struct Model {
  std::vector<Tensor> operands;
  HandPosterior want;
};

Model model_of(std::int64_t states, std::int64_t slices, Dtype dtype, std::uint64_t seed) {
  Random random(seed);
  Model model;
  model.operands = {random_tensor(dtype, {states}, random, Semiring::log),
                    random_tensor(dtype, {states, states}, random, Semiring::log),
                    random_tensor(dtype, {slices, states}, random, Semiring::log)};
  model.want = forward_backward({static_cast<std::size_t>(states), model.operands[0].values(),
                                 model.operands[1].values(), model.operands[2].values()});
  return model;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double allowed) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], want[k], allowed) << k;
}

TEST(ChainLong, OfFewStatesEqualsForwardBackward) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
    const double allowed = dtype == Dtype::float32 ? 2e-5 : 1e-10;
    for (const std::int64_t states : {1, 2, 3, 5}) {
      for (const std::int64_t slices : {2047, 2048, 5001}) {
        const Model model = model_of(states, slices, dtype, static_cast<std::uint64_t>(states * 10000 + slices));
        const double total = std::abs(model.want.log_partition) + 1;
        EXPECT_NEAR(einsum(equation, model.operands, hmm).item(), model.want.log_partition, allowed * total);
        const Marginals got = marginals(equation, model.operands, hmm);
        expect_near(got.variables.at("a").values(), model.want.before, allowed);
        expect_near(got.variables.at("b").values(), model.want.after, allowed);
        const ValueAndGradient gradient = value_and_gradient(equation, model.operands, hmm);
        expect_near(gradient.gradients[2].values(), model.want.after, allowed);
      }
    }
  }
}

TEST(ChainLong, HasTheSameBitsAtAnyThreadCount) {
  const Model model = model_of(2, 9000, Dtype::float32, 5);
  EinsumOptions one = hmm;
  one.threads = 1;
  const auto want = value_and_gradient(equation, model.operands, one);
  for (const int threads : {2, 3, 8}) {
    EinsumOptions many = hmm;
    many.threads = threads;
    const auto got = value_and_gradient(equation, model.operands, many);
    EXPECT_EQ(got.values[0].item(), want.values[0].item());
    for (std::size_t f = 0; f < 3; ++f) EXPECT_EQ(got.gradients[f].values(), want.gradients[f].values()) << f;
  }
}

/// In the middle, what was nearly impossible before turns out to be all that remains after: real space loses it.
TEST(ChainLong, IsSmoothedExactlyWhereRealSpaceIsNotEnough) {
  constexpr float far = -150;
  const std::int64_t slices = 40;
  std::vector<float> emission(static_cast<std::size_t>(2 * slices), 0.0F);
  for (std::int64_t t = 0; t < slices; ++t) emission[static_cast<std::size_t>(2 * t + (t < slices / 2 ? 1 : 0))] = far;
  const std::vector<Tensor> operands = {Tensor::of<float>({2}, {0, 0}), Tensor::of<float>({2, 2}, {0, far, far, 0}),
                                        Tensor::of<float>({slices, 2}, emission)};
  std::vector<Tensor> wide;
  for (const Tensor& t : operands) wide.push_back(Tensor::of<double>(t.shape(), t.values()));
  const Marginals got = marginals(equation, operands, hmm);
  const Marginals want = marginals(equation, wide, hmm, {.log = true});
  EXPECT_NEAR(got.log_partition.item(), want.log_partition.item(), 1e-4);
  const std::vector<double> log_b = want.variables.at("b").values();
  const std::vector<double> b = got.variables.at("b").values();
  for (std::size_t k = 0; k < b.size(); ++k) ASSERT_NEAR(b[k], std::exp(log_b[k]), 1e-4) << k;
}

TEST(ChainLong, SaysInItsPlanHowTimeIsWalked) {
  const auto plan_of = [](std::int64_t states, std::int64_t slices) {
    return compile(FactorGraph::from_equation(
                       equation, std::vector<std::vector<std::int64_t>>{{states}, {states, states}, {slices, states}},
                       {.chains = {{"t", {"a->b"}}}}))
        .print();
  };
  EXPECT_NE(plan_of(2, 100000).find("64 parts"), std::string::npos);
  EXPECT_EQ(plan_of(16, 100000).find("64 parts"), std::string::npos);
  EXPECT_NE(plan_of(16, 100000).find("slice after slice"), std::string::npos);
}

}  // namespace
}  // namespace plated::test
