// Measures times on a noisy machine: runners take turns, and the best turn of each counts.
#pragma once

#include <functional>
#include <vector>

namespace bench {

/// How long to go on: at least `turns` turns, then until `seconds` have passed.
struct Budget {
  double seconds = 1;
  int turns = 5;
};

/// The best time of one call of each runner, in seconds. They run in turn, A B A B …, after one call each that is not
/// timed, so that a disturbance hits all of them and a ratio of minima means something. A turn is `calls` calls.
[[nodiscard]] std::vector<double> best_times(const std::vector<std::function<void()>>& runners, Budget budget,
                                             int calls = 1);

/// As many calls as fill about 20 µs, to be timed as one turn.
[[nodiscard]] int calls_for_a_turn(const std::function<void()>& runner);

}  // namespace bench
