// Asks a question under memory limits: what is cut into blocks must have the same bits.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "plated/error.hpp"
#include "property/bits.hpp"
#include "property/blocked_from.hpp"

namespace plated::test {

using Ask = std::function<Bits(const RunOptions&)>;

/// What a question says it needs where nothing is enough.
inline std::int64_t needed(const Ask& ask, RunOptions options) {
  options.memory_limit = 1;
  try {
    (void)ask(options);
  } catch (const MemoryLimitError& error) {
    return error.bytes_needed();
  }
  return 1;
}

/// Asks without a limit, with the least one and some between, on one thread and on two.
inline testing::AssertionResult same_under_limits(const Ask& ask, RunOptions options, int& cut) {
  const BlockedFrom all(0);
  options.threads = 1;
  const Bits want = ask(options);
  for (const int threads : {1, 2}) {
    options.threads = threads;
    options.memory_limit = 0;
    if (!(ask(options) == want)) return testing::AssertionFailure() << "other bits on " << threads << " threads";
    const std::int64_t least = needed(ask, options);
    std::int64_t whole = least;
    {
      const BlockedFrom none(never_blocked);  // nothing is cut
      whole = needed(ask, options);
    }
    for (std::int64_t limit = least; limit < whole; limit += 1 + (whole - least) / 3) {
      ++cut;
      options.memory_limit = limit;
      try {
        if (!(ask(options) == want)) {
          return testing::AssertionFailure()
                 << "other bits with " << limit << " of " << whole << " bytes on " << threads << " threads";
        }
      } catch (const MemoryLimitError& error) {
        return testing::AssertionFailure() << "needs " << error.what() << ", though " << least << " were said to do";
      }
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace plated::test
