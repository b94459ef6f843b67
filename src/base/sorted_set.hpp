// Sets of small integers as sorted vectors: compact, ordered, and quick to merge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace plated::base {

/// Ascending, each member once.
using SortedSet = std::vector<std::uint32_t>;

[[nodiscard]] inline SortedSet sorted(SortedSet members) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

/// One list after the other, as they are: axes, say, or inputs.
[[nodiscard]] inline std::vector<std::uint32_t> joined(std::vector<std::uint32_t> list,
                                                       const std::vector<std::uint32_t>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

[[nodiscard]] inline bool contains(const SortedSet& set, std::uint32_t member) {
  return std::binary_search(set.begin(), set.end(), member);
}

[[nodiscard]] inline bool is_subset(const SortedSet& small, const SortedSet& large) {
  return std::includes(large.begin(), large.end(), small.begin(), small.end());
}

[[nodiscard]] inline SortedSet unite(const SortedSet& a, const SortedSet& b) {
  SortedSet result;
  result.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

/// Whether it is quicker to look up each member of the small set than to walk through both.
[[nodiscard]] inline bool is_much_smaller(const SortedSet& small, const SortedSet& large) {
  constexpr std::size_t steps_of_a_lookup = 16;
  return small.size() < large.size() / steps_of_a_lookup;
}

[[nodiscard]] inline SortedSet intersect(const SortedSet& a, const SortedSet& b) {
  SortedSet result;
  if (is_much_smaller(b, a)) return intersect(b, a);
  if (is_much_smaller(a, b)) {
    std::copy_if(a.begin(), a.end(), std::back_inserter(result), [&](std::uint32_t m) { return contains(b, m); });
  } else {
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  }
  return result;
}

[[nodiscard]] inline SortedSet subtract(const SortedSet& a, const SortedSet& b) {
  SortedSet result;
  if (is_much_smaller(a, b)) {
    std::copy_if(a.begin(), a.end(), std::back_inserter(result), [&](std::uint32_t m) { return !contains(b, m); });
  } else {
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  }
  return result;
}

}  // namespace plated::base
