// By how much models become smaller under ThreadSanitizer.
#pragma once

#include <cstdint>

namespace plated::test {

#ifdef __SANITIZE_THREAD__
constexpr std::int64_t shrink = 10;  // instrumented runs are slow
#else
constexpr std::int64_t shrink = 1;
#endif

}  // namespace plated::test
