// Describes the machine that a figure was measured on, and the peak memory of this process.
#pragma once

#include <cstdint>

#include "common/json.hpp"

namespace bench {

/// Commit, CPU, compiler, threads of the machine and its load when asked.
[[nodiscard]] Json describe_machine();

/// Bytes of this process that are resident now, and the most that were since forget_peak_memory(); 0 where the system
/// does not tell.
[[nodiscard]] std::int64_t resident_bytes();
[[nodiscard]] std::int64_t peak_resident_bytes();
void forget_peak_memory();

}  // namespace bench
