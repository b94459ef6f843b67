// Assigns nodes to layers: breaks cycles, shortens arrows, and splits wide layers in two.
#include <algorithm>
#include <numeric>

#include "draw/layers.hpp"

namespace plated::draw {
namespace {

using Arrows = std::vector<std::pair<int, int>>;

struct Neighbours {
  std::vector<std::vector<int>> up, down;
};

Neighbours neighbours_of(int nodes, const Arrows& arrows) {
  Neighbours near{std::vector<std::vector<int>>(nodes), std::vector<std::vector<int>>(nodes)};
  for (const auto& [from, to] : arrows) {
    if (from == to) continue;
    near.down[from].push_back(to);
    near.up[to].push_back(from);
  }
  return near;
}

/// The nodes, each after those above it.
std::vector<int> from_above(const Neighbours& near) {
  const int nodes = static_cast<int>(near.up.size());
  std::vector<int> waiting(nodes), order;
  for (int n = 0; n < nodes; ++n) {
    waiting[n] = static_cast<int>(near.up[n].size());
    if (waiting[n] == 0) order.push_back(n);
  }
  for (std::size_t head = 0; head < order.size(); ++head) {
    for (const int next : near.down[order[head]]) {
      if (--waiting[next] == 0) order.push_back(next);
    }
  }
  return order;
}

double total_length(const std::vector<int>& rank, const Neighbours& near) {
  double sum = 0;
  for (std::size_t n = 0; n < rank.size(); ++n) {
    for (const int below : near.down[n]) sum += rank[below] - rank[n];
  }
  return sum;
}

/// Moves each node, within what its neighbours allow, to the side where it has more of them.
void shorten(std::vector<int>& rank, const Neighbours& near, const std::vector<int>& order) {
  const int lowest = *std::max_element(rank.begin(), rank.end());
  for (int round = 0; round < 12; ++round) {
    bool moved = false;
    const auto settle = [&](int n) {
      const auto up = near.up[n].size(), down = near.down[n].size();
      int low = 0, high = lowest;
      for (const int above : near.up[n]) low = std::max(low, rank[above] + 1);
      for (const int below : near.down[n]) high = std::min(high, rank[below] - 1);
      const int wanted = up > down ? low : down > up ? high : rank[n];
      moved |= wanted != rank[n];
      rank[n] = wanted;
    };
    for (auto n = order.rbegin(); n != order.rend(); ++n) settle(*n);
    for (const int n : order) settle(n);
    if (!moved) break;
  }
}

/// Longest paths from above or from below, whichever makes the arrows shorter.
std::vector<int> short_ranks(const Neighbours& near, const std::vector<int>& order) {
  std::vector<int> early(order.size()), late(order.size());
  for (const int n : order) {
    for (const int above : near.up[n]) early[n] = std::max(early[n], early[above] + 1);
  }
  const int lowest = *std::max_element(early.begin(), early.end());
  for (auto n = order.rbegin(); n != order.rend(); ++n) {
    late[*n] = lowest;
    for (const int below : near.down[*n]) late[*n] = std::min(late[*n], late[below] - 1);
  }
  shorten(early, near, order);
  shorten(late, near, order);
  return total_length(early, near) <= total_length(late, near) ? early : late;
}

/// Keeps the order of ranks, but puts nodes of too wide a layer into a later one; what is below them gives way.
std::vector<int> within_width(const std::vector<int>& wanted, const LayerGraph& graph, const LayerGaps& gaps,
                              const Neighbours& near, const std::vector<int>& order) {
  const int nodes = static_cast<int>(wanted.size());
  // Of a layer's nodes, those that most depends on stay.
  std::vector<int> depth(nodes), sorted(nodes);
  for (auto n = order.rbegin(); n != order.rend(); ++n) {
    for (const int below : near.down[*n]) depth[*n] = std::max(depth[*n], depth[below] + 1);
  }
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](int a, int b) { return wanted[a] != wanted[b] ? wanted[a] < wanted[b] : depth[a] > depth[b]; });
  std::vector<double> taken;
  std::vector<int> rank(nodes);
  for (const int n : sorted) {
    int layer = wanted[n];
    for (const int above : near.up[n]) layer = std::max(layer, rank[above] + 1);
    const double width = 2 * graph.half[n].x + gaps.across;
    for (;; ++layer) {
      if (layer >= static_cast<int>(taken.size())) taken.resize(layer + 1);
      if (taken[layer] == 0 || taken[layer] + width <= gaps.widest) break;
    }
    taken[layer] += width;
    rank[n] = layer;
  }
  return rank;
}

}  // namespace

std::vector<std::pair<int, int>> without_cycles(int nodes, Arrows arrows) {
  std::vector<std::vector<int>> leaving(nodes);
  for (std::size_t a = 0; a < arrows.size(); ++a) leaving[arrows[a].first].push_back(static_cast<int>(a));
  enum class Visit : char { none, open, closed };
  std::vector<Visit> visit(nodes, Visit::none);
  // Depth first, with a stack of our own; an arrow back into the open path is turned.
  for (int root = 0; root < nodes; ++root) {
    if (visit[root] != Visit::none) continue;
    std::vector<std::pair<int, std::size_t>> path{{root, 0}};
    visit[root] = Visit::open;
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == leaving[node].size()) {
        visit[node] = Visit::closed;
        path.pop_back();
        continue;
      }
      auto& arrow = arrows[leaving[node][next++]];
      const int to = arrow.second;
      if (to == node) continue;
      if (visit[to] == Visit::open) {
        std::swap(arrow.first, arrow.second);
      } else if (visit[to] == Visit::none) {
        visit[to] = Visit::open;
        path.push_back({to, 0});
      }
    }
  }
  return arrows;
}

std::vector<int> rank_nodes(const LayerGraph& graph, const LayerGaps& gaps) {
  const Neighbours near = neighbours_of(static_cast<int>(graph.half.size()), graph.arrows);
  const std::vector<int> order = from_above(near);
  std::vector<int> ranks = within_width(short_ranks(near, order), graph, gaps, near, order);
  // Remove empty layers.
  std::vector<int> used = ranks;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (int& rank : ranks) rank = static_cast<int>(std::lower_bound(used.begin(), used.end(), rank) - used.begin());
  return ranks;
}

}  // namespace plated::draw
