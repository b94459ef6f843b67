// Ctrl-C: runs without the interpreter lock and checks for signals at intervals.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <functional>
#include <optional>

#include "plated/error.hpp"

namespace plated::python {

/// Asked during a call whether to stop; looks for signals at most every 20 ms, since that takes the interpreter lock.
class Interrupt {
 public:
  [[nodiscard]] std::function<bool()> callback() {
    return [this] { return requested(); };
  }
  /// What the signal's handler raised, which for Ctrl-C is KeyboardInterrupt.
  [[nodiscard]] std::optional<nanobind::python_error>& raised() { return raised_; }
  void keep(nanobind::python_error error) { raised_.emplace(std::move(error)); }

 private:
  bool requested();

  using Clock = std::chrono::steady_clock;
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(20);
  std::optional<nanobind::python_error> raised_;
};

/// Calls `run` without the interpreter lock; what a signal handler raised meanwhile is thrown instead of
/// CancelledError.
template <class Run>
auto without_lock(Interrupt& interrupt, Run run) {
  try {
    const nanobind::gil_scoped_release unlocked;
    return run();
  } catch (const CancelledError&) {
    if (interrupt.raised()) throw std::move(*interrupt.raised());
    throw;
  }
}

}  // namespace plated::python
