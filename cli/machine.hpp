// What the machine has.
#pragma once

#include <cstdint>

namespace plated::cli {

/// Bytes of memory that this process could have to itself: the machine's, or the limit of its control group where that
/// is lower. 0 where the system does not tell.
[[nodiscard]] std::int64_t machine_memory();

}  // namespace plated::cli
