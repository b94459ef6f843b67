// Asks the interpreter for pending signals.
#include "interrupt.hpp"

namespace plated::python {

bool Interrupt::requested() {
  if (raised_) return true;
  if (Clock::now() < next_) return false;
  const nanobind::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) {
    raised_.emplace();
    return true;
  }
  next_ = Clock::now() + std::chrono::milliseconds(20);
  return false;
}

}  // namespace plated::python
