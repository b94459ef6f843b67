// Computes linear sweeps.
#include "planner/order_sweep.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "base/watch.hpp"

namespace plated::planner {
namespace {

class FrontSweep {
 public:
  explicit FrontSweep(const DimGraph& graph)
      : graph_(graph),
        entered_(graph.neighbours.size(), 0),
        gone_(graph.neighbours.size(), 0),
        growth_(graph.log2_size.size(), 0.0) {
    for (const std::uint32_t d : graph.used) {
      for (const std::uint32_t e : graph.neighbours[d]) growth_[d] += graph.log2_size[e];
    }
  }

  void from(std::uint32_t start, std::vector<std::uint32_t>& order) {
    enter(start);
    while (!heap_.empty()) {
      base::check_wanted();
      const auto [growth, age, d] = heap_.top();
      heap_.pop();
      // An entry is stale once the growth of its dim has changed: a newer one is in the heap.
      if (gone_[d] || growth != growth_[d]) continue;
      gone_[d] = 1;
      order.push_back(d);
      for (const std::uint32_t e : graph_.neighbours[d]) enter(e);
    }
  }

  [[nodiscard]] bool gone(std::uint32_t d) const { return gone_[d] != 0; }

 private:
  void enter(std::uint32_t d) {
    if (entered_[d]) return;
    entered_[d] = ++clock_;
    for (const std::uint32_t e : graph_.neighbours[d]) {
      growth_[e] -= graph_.log2_size[d];
      if (entered_[e] && !gone_[e]) heap_.emplace(growth_[e], entered_[e], e);
    }
    heap_.emplace(growth_[d], entered_[d], d);
  }

  using Entry = std::tuple<double, std::uint32_t, std::uint32_t>;  // growth, age, dim

  const DimGraph& graph_;
  std::vector<std::uint32_t> entered_;  // [dim]: when it joined the front, from 1
  std::vector<char> gone_;
  std::vector<double> growth_;  // [dim]: log2 size of the neighbours that have not joined the front
  std::uint32_t clock_ = 0;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
};

/// Appends what a breadth-first walk reaches.
void walk_breadth_first(const DimGraph& graph, std::uint32_t start, std::vector<char>& seen,
                        std::vector<std::uint32_t>& order) {
  seen[start] = 1;
  std::size_t head = order.size();
  order.push_back(start);
  for (; head < order.size(); ++head) {
    const std::size_t first = order.size();
    for (const std::uint32_t e : graph.neighbours[order[head]]) {
      if (seen[e]) continue;
      seen[e] = 1;
      order.push_back(e);
    }
    std::stable_sort(
        order.begin() + static_cast<std::ptrdiff_t>(first), order.end(),
        [&](std::uint32_t a, std::uint32_t b) { return graph.neighbours[a].size() < graph.neighbours[b].size(); });
  }
}

}  // namespace

std::vector<std::uint32_t> sweep_order(const DimGraph& graph, std::uint32_t start, SweepRule rule) {
  std::vector<std::uint32_t> order;
  order.reserve(graph.used.size());
  if (rule == SweepRule::front) {
    FrontSweep sweep(graph);
    sweep.from(start, order);
    for (const std::uint32_t d : graph.used) {
      if (!sweep.gone(d)) sweep.from(d, order);
    }
  } else {
    std::vector<char> seen(graph.neighbours.size(), 0);
    walk_breadth_first(graph, start, seen, order);
    for (const std::uint32_t d : graph.used) {
      if (!seen[d]) walk_breadth_first(graph, d, seen, order);
    }
  }
  return order;
}

std::uint32_t peripheral_dim(const DimGraph& graph, std::uint32_t from) {
  for (int round = 0; round < 3; ++round) {
    std::vector<char> seen(graph.neighbours.size(), 0);
    std::vector<std::uint32_t> order;
    walk_breadth_first(graph, from, seen, order);
    from = order.back();
  }
  return from;
}

}  // namespace plated::planner
