// Integers in memory of any type and any strides.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "plated/integer_view.hpp"
#include "property/written_case.hpp"

namespace plated::test {

/// In a type of this width, axes in any order, some backwards, entries next to each other or not.
template <class T>
IntegerView laid_out(const Integers& integers, Random& random) {
  std::vector<std::size_t> order(integers.shape.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  for (std::size_t k = order.size(); k > 1; --k) {
    std::swap(order[k - 1], order[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(k)))]);
  }
  std::int64_t size = 1 + random.below(2);
  std::int64_t first = 0;
  IntegerView::Shape strides(order.size());
  for (const std::size_t axis : order) {
    const bool backwards = random.below(4) == 0 && integers.shape[axis] > 0;
    strides[axis] = backwards ? -size : size;
    if (backwards) first += size * (integers.shape[axis] - 1);
    size *= integers.shape[axis];
  }
  const auto memory =
      std::make_shared<std::vector<T>>(static_cast<std::size_t>(std::max<std::int64_t>(2, size)), T(99));
  for (std::size_t n = 0; n < integers.values.size(); ++n) {
    auto rest = static_cast<std::int64_t>(n);
    std::int64_t at = first;
    for (std::size_t axis = strides.size(); axis-- > 0;) {
      at += rest % integers.shape[axis] * strides[axis];
      rest /= integers.shape[axis];
    }
    (*memory)[static_cast<std::size_t>(at)] = static_cast<T>(integers.values[n]);
  }
  return IntegerView::view(memory->data() + first, integers.shape, strides).keeping(memory);
}

/// The same in a type that has room for all entries, which are few.
inline IntegerView in_any_form(const Integers& integers, Random& random) {
  const bool missing = std::any_of(integers.values.begin(), integers.values.end(), [](auto s) { return s < 0; });
  switch (random.below(missing ? 4 : 8)) {
    case 0:
      return laid_out<std::int8_t>(integers, random);
    case 1:
      return laid_out<std::int16_t>(integers, random);
    case 2:
      return laid_out<std::int32_t>(integers, random);
    case 3:
      return laid_out<std::int64_t>(integers, random);
    case 4:
      return laid_out<std::uint8_t>(integers, random);
    case 5:
      return laid_out<std::uint16_t>(integers, random);
    case 6:
      return laid_out<std::uint32_t>(integers, random);
    default:
      return laid_out<std::uint64_t>(integers, random);
  }
}

}  // namespace plated::test
