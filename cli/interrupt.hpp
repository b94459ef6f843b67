// Ctrl-C: ends the program at once, but never in the middle of a file.
#pragma once

#include <functional>

namespace plated::cli {

/// From now on an interrupt ends the program with exit code 130, whatever it is doing. Called once, before any other
/// thread exists.
void watch_for_interrupts();

/// Runs what writes files; an interrupt waits until it has returned.
void write_whole(const std::function<void()>& write);

/// While it lives, the first interrupt is only noticed, for work that has something to keep; the next one ends the
/// program as always.
class HeldInterrupt {
 public:
  HeldInterrupt();
  ~HeldInterrupt();
  HeldInterrupt(const HeldInterrupt&) = delete;
  HeldInterrupt& operator=(const HeldInterrupt&) = delete;

  [[nodiscard]] bool requested() const;
};

}  // namespace plated::cli
