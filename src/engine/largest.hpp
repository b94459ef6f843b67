// A maximum over tasks: the order in which they end does not matter.
#pragma once

#include <atomic>

namespace plated::engine {

class Largest {
 public:
  void see(double x) {
    double known = value_.load(std::memory_order_relaxed);
    while (known < x && !value_.compare_exchange_weak(known, x, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

}  // namespace plated::engine
