// The parts of the chain benchmark. Each prints its table and returns its figures.
#pragma once

#include <cstdint>
#include <vector>

#include "common/json.hpp"

namespace bench {

struct ChainSettings {
  std::vector<std::int64_t> states, lengths, sequences;
  int threads = 1;
  double seconds = 1;  ///< for each figure, while a call is short
  int turns = 7;
};

/// Value and gradient of hidden Markov models against forward–backward by hand, and what is left out.
[[nodiscard]] Json measure_points(const ChainSettings& settings);
/// Compilation of a short and of a long chain.
[[nodiscard]] Json measure_planning(const ChainSettings& settings);
/// Factorial hidden Markov models of two and three chains.
[[nodiscard]] Json measure_factorial(const ChainSettings& settings);

}  // namespace bench
