// Random tractable graphs with operands, for the questions that are asked of a plan besides its outputs.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "oracle/posterior.hpp"
#include "property/compile_case.hpp"
#include "property/random_case.hpp"
#include "property/random_operands.hpp"
#include "property/seeds.hpp"

namespace plated::test {

using oracle::Numbers;

struct Draw {
  Semiring semiring = Semiring::log;
  std::vector<Dtype> dtypes = {Dtype::float64};
  int zero_percent = 0;
  bool extreme = false;  // slices that weigh 1e±300, or are masked with −1e30 in log space
  bool signs = false;    // negative entries in the real semiring; without them its operands are weights
  CaseOptions graphs = {};
  PlanOptions plan = {};
};

/// A graph, its plan and its operands.
struct Drawn {
  Case c;
  FactorGraph graph;
  Plan plan;
  Semiring semiring;
  Random random;
  Operands operands;
  bool extreme = false;

  [[nodiscard]] const std::vector<Tensor>& tensors() const { return operands.tensors(); }
  [[nodiscard]] RunOptions run() const { return {.semiring = semiring, .threads = 1}; }
  [[nodiscard]] oracle::Posterior posterior() const {
    return oracle::Posterior(graph, tensors(), semiring, {}, extreme);
  }
  [[nodiscard]] bool probabilistic() const { return semiring == Semiring::log || semiring == Semiring::real; }

  [[nodiscard]] std::vector<DimId> of_kind(DimKind kind) const {
    std::vector<DimId> result;
    for (DimId d = 0; d < graph.dims().size(); ++d) {
      if (graph.dims()[d].kind == kind) result.push_back(d);
    }
    return result;
  }
  [[nodiscard]] const std::string& name_of(DimId d) const { return graph.dims()[d].name; }

  /// Everything needed to see a failure by eye.
  [[nodiscard]] std::string print() const {
    std::ostringstream text;
    text << c.print() << "\n  " << name(semiring);
    for (const Tensor& t : tensors()) {
      text << "\n  " << name(t.dtype()) << " {";
      for (const double x : t.values()) text << " " << x;
      text << " }";
    }
    return text.str() + "\n";
  }
};

/// Calls `property(drawn)` for each seed whose graph is tractable. At least half of the graphs must be, or the test
/// would mean nothing.
template <class Property>
void for_each_tractable(std::uint64_t runs, const Draw& draw, Property property) {
  std::uint64_t seen = 0, compared = 0;
  for_each_seed(runs, [&](std::uint64_t seed) -> testing::AssertionResult {
    const Case c = random_case(seed, draw.graphs);
    const FactorGraph graph = c.build();
    ++seen;
    const std::optional<Plan> plan = compile_if_tractable(graph, draw.plan);
    if (!plan) return testing::AssertionSuccess();
    ++compared;
    Random random(seed + 7000003);
    const bool strided = random.chance(60);
    const bool weights = draw.semiring == Semiring::real && !draw.signs;
    Operands operands(graph, random,
                      {.semiring = weights ? Semiring::max_product : draw.semiring,
                       .dtypes = draw.dtypes,
                       .strided = strided,
                       .zero_percent = draw.zero_percent,
                       .extreme = draw.extreme});
    Drawn drawn{c, graph, *plan, draw.semiring, random, std::move(operands), draw.extreme};
    testing::AssertionResult result = testing::AssertionSuccess();
    try {
      result = property(drawn);
    } catch (const std::exception& error) {
      result = testing::AssertionFailure() << "threw " << error.what();
    }
    if (result) return result;
    return testing::AssertionFailure() << drawn.print() << result.message();
  });
  EXPECT_GE(2 * compared, seen > 100 ? seen : 0) << "too many graphs were skipped";
}

inline Numbers numbers(const Tensor& tensor) {
  const std::vector<double> values = tensor.values();
  return {values.begin(), values.end()};
}

inline std::vector<Numbers> numbers(const std::vector<Tensor>& tensors) {
  std::vector<Numbers> result;
  for (const Tensor& t : tensors) result.push_back(numbers(t));
  return result;
}

inline Numbers logarithms(Numbers values) {
  for (long double& x : values) x = std::log(x);
  return values;
}

/// How far an answer may be off: by `relative` of the magnitude of the terms that went into it, and by `absolute`.
struct Bound {
  double relative = 0;
  double absolute = 0;
};

/// For sums of products of a few dozen entries.
inline Bound bound(const std::vector<Dtype>& dtypes) {
  for (const Dtype dtype : dtypes) {
    if (dtype == Dtype::float32) return {2e-5, 1e-36};
  }
  return {1e-11, 1e-300};
}

inline testing::AssertionResult near(const std::string& what, const Tensor& got, const Tensor::Shape& shape,
                                     const Numbers& want, const Numbers& magnitude, const Bound& bound) {
  if (got.shape() != shape) {
    std::ostringstream text;
    for (const std::int64_t extent : got.shape()) text << " " << extent;
    text << ", not";
    for (const std::int64_t extent : shape) text << " " << extent;
    return testing::AssertionFailure() << what << " has shape" << text.str();
  }
  if (got.elements() > 0 && got.data() == nullptr) return testing::AssertionFailure() << what << " has no data";
  const std::vector<double> values = got.elements() > 0 ? got.values() : std::vector<double>{};
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] == static_cast<double>(want[k])) continue;
    // Written so that NaN fails.
    if (std::abs(values[k] - want[k]) <= bound.relative * std::abs(magnitude[k]) + bound.absolute) continue;
    return testing::AssertionFailure() << what << " entry " << k << " is " << values[k] << ", not "
                                       << static_cast<double>(want[k]) << " (magnitude "
                                       << static_cast<double>(magnitude[k]) << ")";
  }
  return testing::AssertionSuccess();
}

/// A measure for logarithms: their own size, and the sizes of the numbers that were added up to get them.
inline Numbers log_magnitude(const Numbers& logs) {
  Numbers result = logs;
  for (long double& x : result) x = std::isinf(x) ? 1 : std::abs(x) + 20;
  return result;
}

/// That a question has no answer: Z is zero.
template <class Ask>
testing::AssertionResult impossible(Ask ask) {
  try {
    ask();
  } catch (const ImpossibleError&) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "did not throw ImpossibleError though Z is zero";
}

inline bool any_zero(const Numbers& totals, Semiring semiring) {
  const Semiring ring = semiring == Semiring::log ? Semiring::real : semiring;
  return std::find(totals.begin(), totals.end(), oracle::zero(ring)) != totals.end();
}

/// A random dense tensor with entries of either sign.
inline Tensor signed_tensor(const Tensor::Shape& shape, Random& random, Dtype dtype = Dtype::float64) {
  const Tensor tensor(dtype, shape);
  for (std::int64_t k = 0; k < tensor.elements(); ++k) {
    const auto value = static_cast<float>(random.uniform(-2, 2));
    if (dtype == Dtype::float32) {
      static_cast<float*>(tensor.mutable_data())[k] = value;
    } else {
      static_cast<double*>(tensor.mutable_data())[k] = value;
    }
  }
  return tensor;
}

inline std::string test_name(const testing::TestParamInfo<std::tuple<Semiring, Dtype>>& info) {
  return std::string(name(std::get<0>(info.param))) + "_" + std::string(name(std::get<1>(info.param)));
}

}  // namespace plated::test
