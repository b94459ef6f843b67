// Tests samples by Pearson's test on all joint assignments of a model.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "oracle/posterior.hpp"
#include "property/chi_squared.hpp"

namespace plated::test {

using Draws = std::map<std::string, Integers>;

/// How often each joint assignment of a batch was drawn.
inline std::vector<std::int64_t> count_samples(const oracle::Posterior& posterior, const Draws& draws,
                                               std::int64_t count, std::size_t batch, std::size_t cells) {
  std::vector<std::int64_t> counts(cells, 0);
  for (std::int64_t s = 0; s < count; ++s) {
    const std::size_t block = static_cast<std::size_t>(s) * posterior.batches() + batch;
    ++counts.at(posterior.cell(posterior.states(block, draws), batch));
  }
  return counts;
}

/// Whether samples of a whole model may be from its posterior.
inline testing::AssertionResult plausible(const oracle::Posterior& posterior, const Draws& draws, std::int64_t count) {
  for (std::size_t n = 0; n < posterior.batches(); ++n) {
    const oracle::Numbers cells = posterior.cells(n);
    const auto good = plausible(count_samples(posterior, draws, count, n, cells.size()), cells);
    if (!good) return testing::AssertionFailure() << good.message() << ", batch " << n;
  }
  return testing::AssertionSuccess();
}

}  // namespace plated::test
