// Pearson's test of counts against given probabilities.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace plated::test {

/// Cells of fewer than five expected draws are taken together. A right sampler fails with a probability of about 1e-9
/// (six standard deviations in the Wilson–Hilferty approximation); a draw of probability zero fails at once.
template <class Probabilities>
testing::AssertionResult plausible(const std::vector<std::int64_t>& counts, const Probabilities& probabilities) {
  double draws = 0, statistic = 0, cells = 0, rare_expected = 0, rare_count = 0;
  for (const std::int64_t count : counts) draws += static_cast<double>(count);
  const auto add = [&](double expected, double count) {
    statistic += (count - expected) * (count - expected) / expected;
    cells += 1;
  };
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double expected = draws * static_cast<double>(probabilities[k]), count = static_cast<double>(counts[k]);
    if (expected == 0 && count > 0) {
      return testing::AssertionFailure() << "cell " << k << " is impossible and was drawn " << count << " times";
    }
    if (expected < 5) {
      rare_expected += expected;
      rare_count += count;
    } else {
      add(expected, count);
    }
  }
  if (rare_expected >= 5) add(rare_expected, rare_count);
  const double freedom = cells - 1;
  if (freedom < 1) return testing::AssertionSuccess();
  const double spread = 2 / (9 * freedom);
  const double most = freedom * std::pow(1 - spread + 6 * std::sqrt(spread), 3);
  if (statistic <= most) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "chi-squared " << statistic << " with " << freedom << " degrees of freedom";
}

}  // namespace plated::test
