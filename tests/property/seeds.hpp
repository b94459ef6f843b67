// The seeds of a property test: PLATED_SEED reruns one, PLATED_RUNS changes how many there are; with both, there are so
// many from that one on.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "sanitized.hpp"

namespace plated::test {

/// Calls `property(seed)` for each seed; it returns an AssertionResult whose message is the repro. Stops after three
/// failures. Built with assertions or sanitizers, a tenth of the seeds will do.
template <class Property>
void for_each_seed(std::uint64_t runs, Property property) {
  if (slow_build) runs = runs / 10 + 1;
  std::uint64_t first = 1;
  if (const char* text = std::getenv("PLATED_SEED")) {
    first = std::strtoull(text, nullptr, 10);
    runs = 1;
  }
  if (const char* text = std::getenv("PLATED_RUNS")) runs = std::strtoull(text, nullptr, 10);
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + runs && failures < 3; ++seed) {
    const testing::AssertionResult result = property(seed);
    if (result) continue;
    ++failures;
    ADD_FAILURE() << result.message() << "\nrerun with PLATED_SEED=" << seed;
  }
}

/// The least that a test must have come across in its own number of seeds: something of another number, and nothing of
/// a single seed.
inline std::int64_t quota(std::int64_t least) {
  if (std::getenv("PLATED_SEED") != nullptr) return -1;
  return std::getenv("PLATED_RUNS") != nullptr || slow_build ? 0 : least;
}

}  // namespace plated::test
