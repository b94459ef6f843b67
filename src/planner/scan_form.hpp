// Recognises the form of a hidden Markov model: scans for which there are kernels of their own.
#pragma once

#include <cstddef>
#include <optional>

#include "planner/schedule.hpp"

namespace plated::planner {

/// message ← (⊕ message ⊗ before ⊗ matrix) ⊗ after, with one link and a matrix that is the same in all slices and rows.
/// Numbers of the body's operands.
struct ScanForm {
  std::size_t matrix = 0;
  std::optional<std::size_t> before;  // over states before a slice, and rows
  std::optional<std::size_t> after;
};

/// The form of a scan in the semiring of the run.
[[nodiscard]] std::optional<ScanForm> scan_form(const Schedule& schedule, const Step& step);

/// The value that an operand of a scan's body, but for the message, is a slice of.
[[nodiscard]] ValueId sliced_value(const Step& step, std::size_t operand);

}  // namespace plated::planner
