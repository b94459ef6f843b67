// Recognises the form of a hidden Markov model: scans for which there are kernels of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "planner/schedule.hpp"

namespace plated::planner {

/// The form of a scan in the semiring of the run.
[[nodiscard]] std::optional<ScanForm> scan_form(const Schedule& schedule, const Step& step);

/// Parts of its way that a scan of that form runs at once, each from every state, where it splits time.
inline constexpr std::int64_t time_parts = 64;
inline constexpr std::int64_t most_split_states = 3;
/// Whether it does: sizes alone decide. From every state, a step takes as many rows as there are states. They go side
/// by side through vector lanes, which beats the latency of one row only where they are few.
[[nodiscard]] constexpr bool splits_time(std::int64_t rows, std::int64_t states, std::int64_t steps) {
  constexpr std::int64_t fewest_steps_of_a_part = 32;
  return rows == 1 && states <= most_split_states && steps >= fewest_steps_of_a_part * time_parts;
}

}  // namespace plated::planner
