// Compares answers with the oracle's numbers, each within what rounding may do to it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "oracle/posterior.hpp"
#include "plated/error.hpp"

namespace plated::test {

using oracle::Numbers;

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

/// −∞ in probabilities' logarithms, and everything else, compared as what it is.
inline testing::AssertionResult near_probabilities(const std::string& what, const Tensor& got,
                                                   const Tensor::Shape& shape, const Numbers& probabilities, bool log,
                                                   const Bound& bound) {
  const Numbers want = log ? logarithms(probabilities) : probabilities;
  return near(what, got, shape, want, log ? log_magnitude(want) : probabilities, bound);
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

}  // namespace plated::test
