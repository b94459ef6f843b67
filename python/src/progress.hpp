// The `progress` argument of verbs: a function of Python that is told the share of the work that is done.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <string_view>

#include "interrupt.hpp"

namespace plated::python {

class Progress {
 public:
  /// Takes the argument. False where `key` is another.
  bool take(std::string_view key, nanobind::handle value);
  /// What C++ calls; empty where nobody wants to know. What the function raises ends the call.
  [[nodiscard]] std::function<void(double)> callback(Interrupt& interrupt) const;

 private:
  nanobind::object function_;
};

}  // namespace plated::python
