// Prefetches the cache lines of the next block, a few at a time, during the work on the current one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/cache_control.h"

namespace plated::kernels {

/// Lines at `line` bytes from `base`. They are never read: a wrong guess costs a wasted fetch.
struct Ahead {
  const std::byte* base = nullptr;
  const std::int64_t* line = nullptr;
  std::int64_t lines = 0;
};

/// Spreads the fetches over a number of steps, so that they do not wait for each other.
class Fetcher {
 public:
  Fetcher(const Ahead& ahead, std::int64_t steps) : ahead_(ahead), share_((ahead.lines + steps - 1) / steps) {}

  // Inlined: to a compiler, a function that only prefetches does nothing, and calls of it are dropped.
  HWY_INLINE void step() {
    const std::int64_t count = std::min(share_, ahead_.lines);
    const std::byte* const base = ahead_.base;
    const std::int64_t* const line = ahead_.line;
    for (std::int64_t l = 0; l < count; ++l) hwy::Prefetch(base + line[l]);
    ahead_.line += count;
    ahead_.lines -= count;
  }

 private:
  Ahead ahead_;
  std::int64_t share_;
};

}  // namespace plated::kernels
