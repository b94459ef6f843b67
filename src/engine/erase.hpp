// Clears answers in slices that count for nothing: those that a ragged plate does not have, or of weight zero.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/exponents.hpp"
#include "plated/integers.hpp"

namespace plated::engine {

/// The slices of answers with given axes whose exponent is zero, at every index of the dims that the answers lack.
/// Once found, they can be erased again and again without allocating.
class Absent {
 public:
  Absent() = default;  // none
  Absent(const planner::Extents& extents, const Exponents& exponents, const std::vector<DimId>& axes);

  void erase(const Tensor& answer, double value) const;
  /// States become −1; several samples lie one after the other.
  void erase(Integers& states) const;

 private:
  struct Run {
    std::int64_t first, count;
  };
  std::size_t of_all_ = 0;  // entries of one answer
  std::vector<Run> runs_;   // of entries that follow each other row-major, ascending
};

}  // namespace plated::engine
