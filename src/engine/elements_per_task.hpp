// How loops without a shape of their own are cut into tasks.
#pragma once

#include <cstdint>

namespace plated::engine {

/// Fixed, so that no bits depend on threads.
inline constexpr std::int64_t elements_per_task = 65536;

inline std::int64_t pieces(std::int64_t count, std::int64_t piece) { return (count + piece - 1) / piece; }

}  // namespace plated::engine
