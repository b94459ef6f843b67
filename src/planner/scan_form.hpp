// Recognises the form of a hidden Markov model: scans for which there are kernels of their own.
#pragma once

#include <cstddef>
#include <optional>

#include "planner/schedule.hpp"

namespace plated::planner {

/// The form of a scan in the semiring of the run.
[[nodiscard]] std::optional<ScanForm> scan_form(const Schedule& schedule, const Step& step);

/// An operand of a scan's body, the message not counted.
[[nodiscard]] std::size_t sliced_number(const Step& step, std::size_t operand);
/// The value that an operand of a scan's body, but for the message, is a slice of.
[[nodiscard]] ValueId sliced_value(const Step& step, std::size_t operand);

}  // namespace plated::planner
