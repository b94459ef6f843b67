// Compares results with the oracle: zeros exactly, NaN never, everything else within rounding.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "oracle/oracle.hpp"

namespace plated::test {

/// Relative to the magnitude that the oracle accumulated, so that cancellation does not count as an error.
inline double tolerance(Dtype dtype) { return dtype == Dtype::float32 ? 5e-6 : 1e-13; }

inline testing::AssertionResult close(const std::vector<Tensor>& results,
                                      const std::vector<std::vector<oracle::Entry>>& expected, Semiring semiring,
                                      double relative) {
  if (results.size() != expected.size()) return testing::AssertionFailure() << results.size() << " outputs";
  for (std::size_t o = 0; o < expected.size(); ++o) {
    const std::vector<double> values = results[o].values();
    if (values.size() != expected[o].size()) {
      return testing::AssertionFailure() << "output " << o << " has " << values.size() << " entries, not "
                                         << expected[o].size();
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      const oracle::Entry& wanted = expected[o][k];
      const long double offset = oracle::adds_logarithms(semiring) ? 1.0L : 0.0L;
      // A zero by structure is exact; one by cancellation (real only) has a magnitude to be measured against.
      const bool exact = wanted.value == oracle::zero(semiring) && wanted.magnitude == 0;
      const bool good = exact ? values[k] == static_cast<double>(wanted.value)
                              : std::abs(values[k] - wanted.value) <= relative * (wanted.magnitude + offset) + 1e-37L;
      if (good) continue;
      return testing::AssertionFailure() << "output " << o << " entry " << k << " is " << values[k] << ", not "
                                         << static_cast<double>(wanted.value) << " (magnitude "
                                         << static_cast<double>(wanted.magnitude) << ")";
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace plated::test
