// Hessian–vector products and tangents of random plated graphs against exact second derivatives of the oracle.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "property/adjoint_case.hpp"
#include "property/derivative_question.hpp"

namespace plated::test {
namespace {

std::vector<Tensor> random_direction(Drawn& drawn) {
  std::vector<Tensor> result;
  for (const Tensor& operand : drawn.tensors()) result.push_back(signed_tensor(operand.shape(), drawn.random));
  return result;
}

testing::AssertionResult check(Drawn& drawn, const Bound& bound) {
  const std::vector<Tensor> cotangents = random_cotangents(drawn), direction = random_direction(drawn);
  const auto result = hessian_vector_product(drawn.plan, drawn.tensors(), direction, drawn.run(), cotangents);
  oracle::Question q = question(drawn, cotangents);
  q.direction = numbers(direction);
  const oracle::Derivative exact = oracle::derivative(drawn.graph, q);
  const oracle::Derivative magnitude = oracle::derivative(drawn.graph, oracle::absolute(q));
  if (result.tangents.size() != exact.outputs.size() || result.products.size() != exact.gradients.size()) {
    return testing::AssertionFailure() << result.tangents.size() << " tangents, " << result.products.size()
                                       << " products";
  }
  testing::AssertionResult good = testing::AssertionSuccess();
  for (std::size_t o = 0; o < result.tangents.size() && good; ++o) {
    good = near("tangent " + std::to_string(o), result.tangents[o], shape_of(drawn.graph, drawn.graph.outputs()[o]),
                slopes_of(exact.outputs[o]), slopes_of(magnitude.outputs[o]), bound);
  }
  for (std::size_t f = 0; f < result.products.size() && good; ++f) {
    good = near("product " + std::to_string(f), result.products[f], drawn.tensors()[f].shape(),
                slopes_of(exact.gradients[f]), slopes_of(magnitude.gradients[f]), bound);
  }
  return good;
}

class Hessian : public testing::TestWithParam<Semiring> {};

TEST_P(Hessian, TimesAVectorIsTheGradientsDerivative) {
  const Draw draw{.semiring = GetParam(), .signs = true};
  for_each_tractable(700, draw, [&](Drawn& drawn) { return check(drawn, {1e-10, 1e-300}); });
}

TEST_P(Hessian, OfZerosIsExactAndNeverNan) {
  const Draw draw{.semiring = GetParam(), .zero_percent = 30, .signs = true};
  for_each_tractable(500, draw, [&](Drawn& drawn) { return check(drawn, {1e-10, 1e-300}); });
}

TEST_P(Hessian, InFloat32) {
  const Draw draw{.semiring = GetParam(), .dtypes = {Dtype::float32}, .zero_percent = 5, .signs = true};
  for_each_tractable(300, draw, [&](Drawn& drawn) { return check(drawn, {5e-5, 1e-36}); });
}

TEST_P(Hessian, OfLargerGraphs) {
  const Draw draw{.semiring = GetParam(), .zero_percent = 5, .signs = true, .graphs = {.most_work = 2e5}};
  for_each_tractable(50, draw, [&](Drawn& drawn) { return check(drawn, {1e-10, 1e-300}); });
}

TEST_P(Hessian, IsSymmetric) {
  const Draw draw{.semiring = GetParam(), .zero_percent = 5, .signs = true};
  for_each_tractable(400, draw, [&](Drawn& drawn) -> testing::AssertionResult {
    const std::vector<Tensor> cotangents = random_cotangents(drawn);
    const std::vector<Tensor> u = random_direction(drawn), v = random_direction(drawn);
    const auto times = [&](const std::vector<Tensor>& direction) {
      return hessian_vector_product(drawn.plan, drawn.tensors(), direction, drawn.run(), cotangents).products;
    };
    long double sums[2] = {0, 0}, magnitude = 1;
    const auto dot = [&](const std::vector<Tensor>& x, const std::vector<Tensor>& y, long double& sum) {
      for (std::size_t f = 0; f < x.size(); ++f) {
        const std::vector<double> a = x[f].values(), b = y[f].values();
        for (std::size_t k = 0; k < a.size(); ++k) {
          sum += static_cast<long double>(a[k]) * b[k];
          magnitude += std::abs(static_cast<long double>(a[k]) * b[k]);
        }
      }
    };
    dot(u, times(v), sums[0]);
    dot(v, times(u), sums[1]);
    if (std::abs(sums[0] - sums[1]) <= 1e-10L * magnitude) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "uᵀHv = " << static_cast<double>(sums[0])
                                       << ", vᵀHu = " << static_cast<double>(sums[1]);
  });
}

/// Independent of the oracle: central differences of the library's own gradients, extrapolated.
TEST_P(Hessian, IsWhatGradientsDifferBy) {
  const Draw draw{.semiring = GetParam(), .signs = true};
  for_each_tractable(150, draw, [&](Drawn& drawn) -> testing::AssertionResult {
    const std::vector<Tensor> cotangents = random_cotangents(drawn), direction = random_direction(drawn);
    const auto products =
        hessian_vector_product(drawn.plan, drawn.tensors(), direction, drawn.run(), cotangents).products;
    const auto gradient = [&](double step) {
      std::vector<Tensor> moved;
      for (std::size_t f = 0; f < direction.size(); ++f) {
        std::vector<double> values = drawn.tensors()[f].values();
        const std::vector<double> by = direction[f].values();
        for (std::size_t k = 0; k < values.size(); ++k) values[k] += step * by[k];
        moved.push_back(Tensor::of<double>(direction[f].shape(), values));
      }
      return value_and_gradient(drawn.plan, moved, drawn.run(), {.cotangents = cotangents, .gradients = {}}).gradients;
    };
    const double h = 1e-3;
    const auto a = gradient(h), b = gradient(-h), c = gradient(2 * h), d = gradient(-2 * h);
    for (std::size_t f = 0; f < products.size(); ++f) {
      const auto xa = a[f].values(), xb = b[f].values(), xc = c[f].values(), xd = d[f].values(),
                 got = products[f].values();
      double largest = 1;
      for (const double x : xa) largest = std::max(largest, std::abs(x));
      for (const double x : got) largest = std::max(largest, std::abs(x));
      for (std::size_t k = 0; k < got.size(); ++k) {
        const double want = (8 * (xa[k] - xb[k]) - (xc[k] - xd[k])) / (12 * h);
        if (!(std::abs(got[k] - want) <= 1e-6 * largest)) {
          return testing::AssertionFailure()
                 << "product " << f << " entry " << k << " is " << got[k] << ", not " << want;
        }
      }
    }
    return testing::AssertionSuccess();
  });
}

INSTANTIATE_TEST_SUITE_P(Semirings, Hessian, testing::Values(Semiring::log, Semiring::real),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST(HessianOf, LogZIsACovariance) {
  // x ~ p over three states: H = diag(p) − p pᵀ.
  const Tensor x = Tensor::of<double>({3}, {std::log(0.2), std::log(0.3), std::log(0.5)});
  const Tensor v = Tensor::of<double>({3}, {1, -2, 4});
  const auto [tangents, products] = hessian_vector_product("x->", {x}, {v});
  const double mean = 0.2 - 0.6 + 2.0;
  EXPECT_NEAR(tangents[0].item(), mean, 1e-14);
  EXPECT_NEAR(products[0].values()[0], 0.2 * (1 - mean), 1e-14);
  EXPECT_NEAR(products[0].values()[1], 0.3 * (-2 - mean), 1e-14);
  EXPECT_NEAR(products[0].values()[2], 0.5 * (4 - mean), 1e-14);
}

}  // namespace
}  // namespace plated::test
