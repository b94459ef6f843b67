// Broken invariants: programmer errors, checked in builds without NDEBUG.
#pragma once

#include <cassert>

/// Holds unless Plated itself is wrong. Costs nothing in release builds.
#define PLATED_ASSERT(condition) assert(condition)
