// Multiplies sizes with overflow checks.
#pragma once

#include <cstdint>
#include <span>

namespace plated::base {

/// a · b for non-negative a and b. Throws SizeError on a negative factor, SizeOverflowError beyond 2^63 − 1.
[[nodiscard]] std::int64_t checked_product(std::int64_t a, std::int64_t b);
/// a + b for non-negative a and b; throws the same.
[[nodiscard]] std::int64_t checked_sum(std::int64_t a, std::int64_t b);
/// The product of all, 1 for none. A zero anywhere makes it 0, whatever the others are.
[[nodiscard]] std::int64_t checked_product(std::span<const std::int64_t> sizes);

}  // namespace plated::base
