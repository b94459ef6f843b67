// Visits every index of a shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/checked_size.hpp"
#include "base/watch.hpp"

namespace plated::engine {

/// Calls visit(k, index) for each index of a shape, in row-major order.
template <class Visit>
void for_each_index(const std::vector<std::int64_t>& shape, const Visit& visit) {
  std::vector<std::int64_t> at(shape.size(), 0);
  const std::int64_t count = base::checked_product(shape);
  base::Pace pace;
  for (std::int64_t k = 0; k < count; ++k) {
    if (pace.stops(static_cast<std::int64_t>(shape.size()) + 1)) base::check_wanted();
    visit(static_cast<std::size_t>(k), at);
    for (std::size_t axis = shape.size(); axis-- > 0 && ++at[axis] == shape[axis];) at[axis] = 0;
  }
}

}  // namespace plated::engine
