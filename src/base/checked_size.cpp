// Overflow checks on products of sizes.
#include "base/checked_size.hpp"

#include <algorithm>
#include <string>

#include "plated/error.hpp"

namespace plated::base {

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0) throw SizeError("a size is negative: " + std::to_string(std::min(a, b)));
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw SizeOverflowError("the product of sizes " + std::to_string(a) + " and " + std::to_string(b) +
                            " does not fit in 63 bits");
  }
  return product;
}

std::int64_t checked_sum(std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0) throw SizeError("a size is negative: " + std::to_string(std::min(a, b)));
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw SizeOverflowError("the sum of sizes " + std::to_string(a) + " and " + std::to_string(b) +
                            " does not fit in 63 bits");
  }
  return sum;
}

std::int64_t checked_product(std::span<const std::int64_t> sizes) {
  for (const std::int64_t size : sizes) {
    if (size < 0) throw SizeError("a size is negative: " + std::to_string(size));
  }
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product = checked_product(product, size);
  return product;
}

}  // namespace plated::base
