// Places layers and the items in them: each layer in turn is fitted to its neighbours by least squares.
#include <algorithm>
#include <cmath>

#include "draw/layers.hpp"

namespace plated::draw {
namespace {

/// Arrows that pass through layers should be straight; short ones may slant.
double weight_of(const Layers::Item& a, const Layers::Item& b) {
  return a.is_bend && b.is_bend ? 8 : a.is_bend || b.is_bend ? 2 : 1;
}

double separation(const Layers::Item& a, const Layers::Item& b, const LayerGaps& gaps) {
  return a.half.x + b.half.x + (a.is_bend || b.is_bend ? gaps.bend : gaps.across);
}

/// The positions nearest to those wanted, by weighted squares, that keep the separations: isotonic regression, by
/// pooling neighbours that want to pass each other.
void fit(const std::vector<int>& order, const std::vector<double>& offset, const std::vector<double>& wanted,
         const std::vector<double>& weight, std::vector<double>& x) {
  struct Pool {
    double sum, weight;
    std::size_t size;
    [[nodiscard]] double mean() const { return sum / weight; }
  };
  std::vector<Pool> pools;
  for (std::size_t k = 0; k < order.size(); ++k) {
    pools.push_back({weight[k] * (wanted[k] - offset[k]), weight[k], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back() = {pools.back().sum + last.sum, pools.back().weight + last.weight, pools.back().size + last.size};
    }
  }
  std::size_t k = 0;
  for (const auto& pool : pools) {
    for (std::size_t end = k + pool.size; k < end; ++k) x[order[k]] = pool.mean() + offset[k];
  }
}

}  // namespace

std::vector<double> place_across(const Layers& layers, const LayerGaps& gaps) {
  std::vector<double> x(layers.items.size());
  std::vector<std::vector<double>> offsets;
  for (const auto& order : layers.order) {
    std::vector<double> offset(order.size());
    for (std::size_t k = 1; k < order.size(); ++k)
      offset[k] = offset[k - 1] + separation(layers.items[order[k - 1]], layers.items[order[k]], gaps);
    for (std::size_t k = 0; k < order.size(); ++k) x[order[k]] = offset[k] - offset.back() / 2;
    offsets.push_back(std::move(offset));
  }
  constexpr int rounds = 40;
  const int count = static_cast<int>(layers.order.size());
  for (int round = 0; round < rounds; ++round) {
    // First one side at a time, which spreads what lies far apart; then both.
    const bool use_up = round >= rounds / 2 || round % 2 == 0, use_down = round >= rounds / 2 || round % 2 == 1;
    for (int k = 0; k < count; ++k) {
      const int layer = round % 2 == 0 ? k : count - 1 - k;
      const auto& order = layers.order[layer];
      std::vector<double> wanted, weight;
      for (const int i : order) {
        const auto& item = layers.items[i];
        double sum = 0, total = 0;
        const auto add = [&](const std::vector<int>& near) {
          for (const int other : near) {
            const double pull = weight_of(item, layers.items[other]);
            sum += pull * x[other];
            total += pull;
          }
        };
        if (use_up) add(item.up);
        if (use_down) add(item.down);
        wanted.push_back(total > 0 ? sum / total : x[i]);
        weight.push_back(std::max(total, 0.05));
      }
      fit(order, offsets[layer], wanted, weight, x);
    }
  }
  return x;
}

std::vector<double> place_down(const Layers& layers, const std::vector<double>& x, const LayerGaps& gaps) {
  std::vector<double> y;
  double at = 0;
  for (const auto& order : layers.order) {
    double half = 0, reach = 0;
    for (const int i : order) {
      half = std::max(half, layers.items[i].half.y);
      for (const int above : layers.items[i].up) reach = std::max(reach, std::abs(x[i] - x[above]));
    }
    // Arrows that go far to the side get more height, or they would be flat.
    if (!y.empty()) at += gaps.down + std::min(0.08 * reach, 1.5 * gaps.down);
    y.push_back(at + half);
    at += 2 * half;
  }
  return y;
}

}  // namespace plated::draw
