// The bookkeeping of a contraction against counting all over again.
#include "planner/order_live_network.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "order_networks.hpp"

namespace plated::planner {
namespace {

/// The dims of each live node, which are merged as sets.
using Naive = std::map<std::uint32_t, std::set<std::uint32_t>>;

std::vector<std::uint32_t> naive_holders(const Naive& naive, std::uint32_t dim) {
  std::vector<std::uint32_t> holders;
  for (const auto& [node, dims] : naive) {
    if (dims.contains(dim)) holders.push_back(node);
  }
  return holders;
}

void merge(Naive& naive, std::uint32_t a, std::uint32_t b, std::uint32_t merged) {
  std::set<std::uint32_t> both = naive[a];
  both.insert(naive[b].begin(), naive[b].end());
  naive.erase(a);
  naive.erase(b);
  std::erase_if(both, [&](std::uint32_t d) { return naive_holders(naive, d).empty(); });
  naive[merged] = both;
}

void expect_same(LiveNetwork& live, const Naive& naive, std::size_t dims) {
  for (const auto& [node, held] : naive) {
    ASSERT_TRUE(live.alive(node));
    const auto list = live.dims(node);
    ASSERT_EQ(std::vector<std::uint32_t>(list.begin(), list.end()),
              std::vector<std::uint32_t>(held.begin(), held.end()));
  }
  for (std::uint32_t d = 0; d < dims; ++d) {
    const auto list = live.holders(d);
    const std::vector<std::uint32_t> holders = naive_holders(naive, d);
    ASSERT_EQ(live.degree(d), holders.size());
    ASSERT_EQ(std::vector<std::uint32_t>(list.begin(), list.end()), holders);
  }
}

TEST(LiveNetwork, KnowsDimsAndHoldersThroughAllMerges) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    // Few dims that all hold, so that lists fill up, and many that lie in large tensors, so that those are moved.
    const Network network = testing::random_network(60, seed % 2 == 0 ? 6 : 200, seed % 2 == 0 ? 5 : 40, seed);
    LiveNetwork live(network);
    Naive naive;
    for (std::uint32_t t = 0; t < network.tensors.size(); ++t) {
      naive[t] = {network.tensors[t].begin(), network.tensors[t].end()};
    }
    std::mt19937_64 random(seed);
    while (naive.size() > 1) {
      // One node takes the others up for a while, then any two are merged.
      const auto a = random() % 3 == 0 ? std::next(naive.begin(), static_cast<std::ptrdiff_t>(random() % naive.size()))
                                       : std::prev(naive.end());
      const std::uint32_t first = a->first;
      auto b = std::next(naive.begin(), static_cast<std::ptrdiff_t>(random() % naive.size()));
      if (b == a) b = b == naive.begin() ? std::next(b) : naive.begin();
      const std::uint32_t second = b->first;
      merge(naive, first, second, live.merge(first, second));
      // Asking drops what is dead: not after every merge, or no list would ever fill up.
      if (random() % 8 == 0 || naive.size() == 1) expect_same(live, naive, network.log2_size.size());
    }
  }
}

}  // namespace
}  // namespace plated::planner
