// Hessian–vector products and tangents of random models against exact second derivatives of the oracle.
#include <gtest/gtest.h>

#include "plated/gradient.hpp"
#include "property/derivatives.hpp"

namespace plated::test {
namespace {

testing::AssertionResult check(DrawnModel& drawn, const Bound& bound) {
  const std::vector<Tensor> cotangents = random_cotangents(drawn);
  const std::vector<Tensor> direction = signed_like(drawn.tensors(), drawn.random);
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

/// uᵀHv = vᵀHu.
testing::AssertionResult check_symmetry(DrawnModel& drawn) {
  const std::vector<Tensor> cotangents = random_cotangents(drawn), u = signed_like(drawn.tensors(), drawn.random),
                            v = signed_like(drawn.tensors(), drawn.random);
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
}

/// Independent of the oracle: central differences of the library's own gradients, extrapolated.
testing::AssertionResult check_differences(DrawnModel& drawn) {
  const std::vector<Tensor> cotangents = random_cotangents(drawn);
  const std::vector<Tensor> direction = signed_like(drawn.tensors(), drawn.random);
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
        return testing::AssertionFailure() << "product " << f << " entry " << k << " is " << got[k] << ", not " << want;
      }
    }
  }
  return testing::AssertionSuccess();
}

class Hessian : public OfModels {};

TEST_P(Hessian, TimesAVectorIsTheGradientsDerivativeAndNeverNan) {
  Models drawn = models();
  drawn.draw.signs = true;
  const Bound within = dtype() == Dtype::float32 ? Bound{5e-5, 1e-36} : Bound{1e-10, 1e-300};
  for_each_model(drawn, [&](DrawnModel& model) { return check(model, within); });
}

INSTANTIATE_TEST_SUITE_P(
    Of, Hessian,
    testing::Combine(
        testing::Values(
            Models{"plates", 700}, Models{"plates_with_zeros", 500, {.zero_percent = 30}},
            Models{"larger_plates", 50, {.zero_percent = 5, .graphs = CaseOptions{.most_work = 2e5}}},
            Models{"chains", 400, {.graphs = ChainOptions{}}},
            Models{"chains_with_zeros", 300, {.zero_percent = 25, .graphs = ChainOptions{}}},
            Models{"larger_chains",
                   20,
                   {.zero_percent = 3, .graphs = ChainOptions{.most_work = 3e5, .small_sizes = false}}},
            Models{"chains_in_chains", 100, {.zero_percent = 5, .graphs = ChainOptions{.nested = true}}},
            Models{"plates_in_blocks", 100, {.zero_percent = 5}, true},
            Models{"chains_in_blocks", 100, {.zero_percent = 5, .graphs = ChainOptions{}}, true},
            Models{
                "chains_in_chains_in_blocks", 30, {.zero_percent = 5, .graphs = ChainOptions{.nested = true}}, true}),
        sum_semirings, testing::Values(Dtype::float64)),
    models_name);

INSTANTIATE_TEST_SUITE_P(
    OfFloats, Hessian,
    testing::Combine(testing::Values(Models{"plates", 300, {.zero_percent = 5}},
                                     Models{"chains", 200, {.zero_percent = 5, .graphs = ChainOptions{}}}),
                     sum_semirings, testing::Values(Dtype::float32)),
    models_name);

class HessianByItself : public OfModels {};

TEST_P(HessianByItself, IsSymmetric) {
  Models drawn = models();
  drawn.draw.signs = true;
  drawn.draw.zero_percent = 5;
  for_each_model(drawn, check_symmetry);
}

TEST_P(HessianByItself, IsWhatGradientsDifferBy) {
  Models drawn = models();
  drawn.draw.signs = true;
  drawn.runs = 3 * drawn.runs / 8;
  for_each_model(drawn, check_differences);
}

INSTANTIATE_TEST_SUITE_P(
    Of, HessianByItself,
    testing::Combine(testing::Values(Models{"plates", 400}, Models{"chains", 120, {.graphs = ChainOptions{}}},
                                     Models{"chains_in_chains", 40, {.graphs = ChainOptions{.nested = true}}}),
                     sum_semirings, testing::Values(Dtype::float64)),
    models_name);

}  // namespace
}  // namespace plated::test
