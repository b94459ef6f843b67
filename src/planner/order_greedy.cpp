// The greedy pass: a heap of candidate pairs that share a dim.
#include "planner/order_greedy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace plated::planner {
namespace {

// Partners considered for each node along one dim: bounds the work on dims that thousands of tensors hold.
constexpr std::size_t max_partners = 32;

struct Candidate {
  double score;
  std::uint32_t a;
  std::uint32_t b;
  // Ties go to the older pair, so that the order is the same everywhere.
  bool operator<(const Candidate& other) const {
    if (score != other.score) return score > other.score;
    return std::pair(a, b) > std::pair(other.a, other.b);
  }
};

/// Sign and logarithm of 2^result − weight · (2^a + 2^b), without leaving the logarithm: sizes may be 2^1000.
double score_of(double result, double a, double b, double weight) {
  const double top = std::max({result, a, b});
  const double difference = std::exp2(result - top) - weight * (std::exp2(a - top) + std::exp2(b - top));
  if (difference == 0) return 0;
  // Shifted by the smallest size that matters, one element, so that the two signs meet at zero.
  const double magnitude = std::max(0.0, top + std::log2(std::abs(difference)) + 1);
  return difference > 0 ? magnitude : -magnitude;
}

class GreedyPass {
 public:
  GreedyPass(LiveNetwork& live, const GreedyOptions& options, base::Random& random)
      : live_(live), options_(options), random_(random) {}

  void run() {
    // More than one round only where the bound on partners left a node without any.
    do {
      for (const std::uint32_t node : live_.live_nodes()) push_pairs(node);
      drained_ = heap_.empty();
      while (!heap_.empty()) {
        const Candidate best = heap_.top();
        heap_.pop();
        if (live_.alive(best.a) && live_.alive(best.b)) push_pairs(live_.merge(best.a, best.b));
      }
    } while (!drained_);
  }

 private:
  /// Pairs of a node with older ones.
  void push_pairs(std::uint32_t node) {
    partners_.clear();
    for (const std::uint32_t d : live_.dims(node)) {
      const std::span<const std::uint32_t> holders = live_.holders(d);
      std::size_t taken = 0;
      for (std::size_t i = holders.size(); i-- > 0 && taken < max_partners;) {
        if (holders[i] >= node) continue;
        partners_.push_back(holders[i]);
        ++taken;
      }
    }
    std::sort(partners_.begin(), partners_.end());
    partners_.erase(std::unique(partners_.begin(), partners_.end()), partners_.end());
    for (const std::uint32_t partner : partners_) {
      const double result = live_.sizes(partner, node).result;
      double score = score_of(result, live_.log2_size(partner), live_.log2_size(node), options_.weight);
      if (options_.temperature > 0) score -= options_.temperature * random_.gumbel();
      heap_.push({score, partner, node});
    }
  }

  LiveNetwork& live_;
  const GreedyOptions& options_;
  base::Random& random_;
  std::priority_queue<Candidate> heap_;
  std::vector<std::uint32_t> partners_;
  bool drained_ = false;  // a round found no pair at all
};

}  // namespace

void contract_greedily(LiveNetwork& live, const GreedyOptions& options, base::Random& random) {
  GreedyPass(live, options, random).run();
  join_smallest_first(live, live.live_nodes());
}

void join_smallest_first(LiveNetwork& live, const std::vector<std::uint32_t>& nodes) {
  using Entry = std::pair<double, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
  for (const std::uint32_t node : nodes) heap.emplace(live.log2_size(node), node);
  while (heap.size() > 1) {
    const std::uint32_t a = heap.top().second;
    heap.pop();
    const std::uint32_t b = heap.top().second;
    heap.pop();
    const std::uint32_t merged = live.merge(a, b);
    heap.emplace(live.log2_size(merged), merged);
  }
}

}  // namespace plated::planner
