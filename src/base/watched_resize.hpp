// Growing a large array: touching gigabytes for the first time takes seconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/watch.hpp"

namespace plated::base {

/// list.resize(size, fill) that asks every few megabytes whether the call is still wanted; throws what check_wanted()
/// does.
template <class T>
void watched_resize(std::vector<T>& list, std::size_t size, T fill = {}) {
  constexpr std::size_t at_once = std::size_t{1} << 20;
  list.reserve(size);
  while (list.size() < size) {
    check_wanted();
    list.resize(std::min(size, list.size() + at_once), fill);
  }
}

}  // namespace plated::base
