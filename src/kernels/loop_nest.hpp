// A contraction's loops in a normal form: no trivial loops, positive strides, neighbours merged, innermost first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/contraction.hpp"

namespace plated::kernels {

struct Loop {
  std::int64_t extent = 1;
  Role role = Role::kept;
  std::vector<std::int64_t> input;  // strides, [input]
  std::int64_t output = 0;
};

struct LoopNest {
  std::vector<Loop> loops;         // in the memory order of the primary input, innermost first
  std::vector<std::int64_t> base;  // [input]: the offset of the first element, not 0 where a loop was reversed
  std::int64_t output_base = 0;
  std::size_t primary = 0;  // the input with the most distinct elements, whose memory order rules
  std::int64_t kept = 1;    // extents of each role, multiplied
  std::int64_t product = 1;
  std::int64_t sum = 1;
  std::int64_t power = 1;  // of the shape, times the product loops that no input carries
};

/// Extents of the whole shape must multiply to less than 2^63 (tensors cannot be larger).
[[nodiscard]] LoopNest normalise(const ContractionShape& shape);

}  // namespace plated::kernels
