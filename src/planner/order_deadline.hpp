// An optional time limit; without one, a search is bounded by its number of trials alone and reproducible.
#pragma once

#include <chrono>

#include "base/watch.hpp"

namespace plated::planner {

class Deadline {
 public:
  /// Zero or less is no deadline.
  explicit Deadline(double seconds) : seconds_(seconds) {}

  /// Throws where the call is cancelled.
  [[nodiscard]] bool passed() const {
    base::check_wanted();
    if (seconds_ <= 0) return false;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() > seconds_;
  }

 private:
  double seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace plated::planner
