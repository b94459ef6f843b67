// Takes the best of many interleaved repetitions.
#include "workload/timing.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

std::vector<double> best_times(const std::vector<std::function<void()>>& runners, Budget budget, int calls) {
  for (const auto& runner : runners) runner();
  std::vector<double> best(runners.size(), std::numeric_limits<double>::infinity());
  const auto begin = Clock::now();
  for (int turn = 0; turn < budget.turns || seconds_since(begin) < budget.seconds; ++turn) {
    for (std::size_t r = 0; r < runners.size(); ++r) {
      const auto start = Clock::now();
      for (int call = 0; call < calls; ++call) runners[r]();
      best[r] = std::min(best[r], seconds_since(start) / calls);
    }
  }
  return best;
}

int calls_for_a_turn(const std::function<void()>& runner) {
  const double once = best_times({runner}, {.seconds = 0, .turns = 5}).front();
  return static_cast<int>(std::clamp(20e-6 / once, 1.0, 10000.0));
}

}  // namespace bench
