// The version of the program, which is the library's.
#pragma once

#include "plated/version.hpp"

namespace plated::cli {

inline constexpr const char* version = PLATED_VERSION;

}  // namespace plated::cli
