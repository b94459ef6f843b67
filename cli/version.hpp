// The version, as set in CMake.
#pragma once

namespace plated::cli {

inline constexpr const char* version = PLATED_VERSION;

}  // namespace plated::cli
