// Turns buckets into merges.
#include "planner/order_elimination.hpp"

#include <algorithm>

#include "planner/order_greedy.hpp"

namespace plated::planner {
namespace {

// Up to this many nodes all pairs of a bucket are compared; beyond it, only the smallest with each other.
constexpr std::size_t compared = 12;

void merge_bucket(LiveNetwork& live, std::vector<std::uint32_t> bucket) {
  const auto smaller = [&](std::uint32_t a, std::uint32_t b) { return live.log2_size(a) < live.log2_size(b); };
  std::stable_sort(bucket.begin(), bucket.end(), smaller);
  while (bucket.size() > 1) {
    std::size_t best_i = 0;
    std::size_t best_j = 1;
    double best = live.sizes(bucket[0], bucket[1]).joint;
    const std::size_t last = std::min(bucket.size(), compared);
    for (std::size_t j = 2; j < last; ++j) {
      // Sorted by size: from here on no pair can be smaller.
      if (live.log2_size(bucket[j]) >= best) break;
      for (std::size_t i = 0; i < j; ++i) {
        const double joint = live.sizes(bucket[i], bucket[j]).joint;
        if (joint < best) {
          best = joint;
          best_i = i;
          best_j = j;
        }
      }
    }
    const std::uint32_t merged = live.merge(bucket[best_i], bucket[best_j]);
    bucket.erase(bucket.begin() + static_cast<std::ptrdiff_t>(best_j));
    bucket.erase(bucket.begin() + static_cast<std::ptrdiff_t>(best_i));
    bucket.insert(std::upper_bound(bucket.begin(), bucket.end(), merged, smaller), merged);
  }
}

}  // namespace

void eliminate_in_order(LiveNetwork& live, const std::vector<std::uint32_t>& dims) {
  for (const std::uint32_t d : dims) {
    if (live.degree(d) < 2) continue;
    const std::span<const std::uint32_t> holders = live.holders(d);
    merge_bucket(live, {holders.begin(), holders.end()});
  }
  join_smallest_first(live, live.live_nodes());
}

}  // namespace plated::planner
