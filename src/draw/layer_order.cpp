// Orders the items within layers: sweeps towards the middles of neighbours, then swaps, from several starts.
#include <algorithm>
#include <numeric>

#include "base/random.hpp"
#include "draw/layers.hpp"

namespace plated::draw {
namespace {

constexpr int most_starts = 8;
constexpr int fair_size = 2000;  // items beyond which fewer starts have to do
constexpr int sweeps = 12;

class Orderer {
 public:
  explicit Orderer(Layers& layers) : layers_(layers), position_(layers.items.size()) {}

  int run() {
    const auto first = depth_first();
    const int starts = std::clamp(most_starts * fair_size / (1 + static_cast<int>(position_.size())), 1, most_starts);
    base::Random random(5);
    int fewest = -1;
    std::vector<std::vector<int>> best;
    for (int start = 0; start < starts && fewest != 0; ++start) {
      layers_.order = first;
      if (start % 2 == 1) {
        for (auto& layer : layers_.order) std::reverse(layer.begin(), layer.end());
      }
      if (start > 1) {
        for (auto& layer : layers_.order) {
          for (std::size_t k = layer.size(); k > 1; --k)
            std::swap(layer[k - 1], layer[random.below(static_cast<std::uint32_t>(k))]);
        }
      }
      for (std::size_t l = 0; l < layers_.order.size(); ++l) number(l);
      for (int sweep = 0; sweep < sweeps; ++sweep) {
        sweep_once(sweep % 2 == 0);
        swap_neighbours();
        const int now = crossings();
        if (fewest >= 0 && now >= fewest) continue;
        fewest = now;
        best = layers_.order;
      }
    }
    layers_.order = std::move(best);
    return fewest;
  }

 private:
  using Side = std::vector<int> Layers::Item::*;

  /// Items in the order in which a walk along arrows first meets them: what hangs together lies together.
  std::vector<std::vector<int>> depth_first() const {
    std::vector<std::vector<int>> order(layers_.order.size());
    std::vector<char> seen(layers_.items.size());
    std::vector<int> all(layers_.items.size());
    std::iota(all.begin(), all.end(), 0);
    std::stable_sort(all.begin(), all.end(),
                     [&](int a, int b) { return layers_.items[a].layer < layers_.items[b].layer; });
    for (const int root : all) {
      std::vector<int> stack{root};
      while (!stack.empty()) {
        const int item = stack.back();
        stack.pop_back();
        if (seen[item]) continue;
        seen[item] = 1;
        order[layers_.items[item].layer].push_back(item);
        const auto& [layer, half, is_bend, up, down] = layers_.items[item];
        stack.insert(stack.end(), up.rbegin(), up.rend());
        stack.insert(stack.end(), down.rbegin(), down.rend());
      }
    }
    return order;
  }

  void number(std::size_t layer) {
    for (std::size_t k = 0; k < layers_.order[layer].size(); ++k)
      position_[layers_.order[layer][k]] = static_cast<int>(k);
  }

  void sweep_once(bool downwards) {
    const int count = static_cast<int>(layers_.order.size());
    const Side side = downwards ? &Layers::Item::up : &Layers::Item::down;
    for (int k = 1; k < count; ++k) {
      const int layer = downwards ? k : count - 1 - k;
      auto& order = layers_.order[layer];
      std::vector<std::pair<double, int>> keyed;
      for (const int item : order) {
        const auto& near = layers_.items[item].*side;
        double sum = 0;
        for (const int other : near) sum += position_[other];
        keyed.emplace_back(near.empty() ? position_[item] : sum / static_cast<double>(near.size()), item);
      }
      std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t p = 0; p < order.size(); ++p) order[p] = keyed[p].second;
      number(layer);
    }
  }

  /// Crossings of the arrows of `left` with those of `right` on one side, with left to the left of right.
  int pair_crossings(int left, int right, Side side) const {
    int count = 0;
    for (const int a : layers_.items[left].*side) {
      for (const int b : layers_.items[right].*side) count += position_[a] > position_[b];
    }
    return count;
  }

  void swap_neighbours() {
    bool better = true;
    for (int round = 0; better && round < 10; ++round) {
      better = false;
      for (auto& order : layers_.order) {
        for (std::size_t k = 0; k + 1 < order.size(); ++k) {
          const int a = order[k], b = order[k + 1];
          int gain = 0;
          for (const Side side : {&Layers::Item::up, &Layers::Item::down})
            gain += pair_crossings(a, b, side) - pair_crossings(b, a, side);
          if (gain <= 0) continue;
          std::swap(order[k], order[k + 1]);
          std::swap(position_[a], position_[b]);
          better = true;
        }
      }
    }
  }

  /// Inversions among the lower ends of arrows, taken from left to right by their upper ends.
  int crossings() const {
    int count = 0;
    for (std::size_t l = 0; l + 1 < layers_.order.size(); ++l) {
      std::vector<int> tree(layers_.order[l + 1].size() + 1);  // a Fenwick tree of ends so far
      int ends = 0;
      for (const int item : layers_.order[l]) {
        for (const int below : layers_.items[item].down) {
          int before = 0;
          for (int p = position_[below] + 1; p > 0; p -= p & -p) before += tree[p];
          count += ends - before;
        }
        for (const int below : layers_.items[item].down) {
          for (int p = position_[below] + 1; p < static_cast<int>(tree.size()); p += p & -p) ++tree[p];
          ++ends;
        }
      }
    }
    return count;
  }

  Layers& layers_;
  std::vector<int> position_;
};

}  // namespace

int order_layers(Layers& layers) { return Orderer(layers).run(); }

}  // namespace plated::draw
