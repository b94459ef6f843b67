// Tells whether this build has sanitizers or assertions, in which tests run a tenth of the random cases.
#pragma once

#include <cstdint>

namespace plated::test {

#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool slow_build = true;
#else
inline constexpr bool slow_build = false;
#endif

/// How many of so many cases to run here.
[[nodiscard]] constexpr int cases(int usual) { return slow_build ? usual / 10 + 1 : usual; }

}  // namespace plated::test
