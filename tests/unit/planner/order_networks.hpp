// Networks that the order tests share, and naive versions that the fast code is compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "planner/contraction_order.hpp"

namespace plated::planner::testing {

/// Random tensors of up to `arity` dims; some share many dims, some none, some are scalars or duplicates.
inline Network random_network(std::uint32_t tensors, std::uint32_t dims, std::uint32_t arity, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Network network;
  for (std::uint32_t d = 0; d < dims; ++d)
    network.log2_size.push_back(std::log2(static_cast<double>(2 + random() % 4)));
  for (std::uint32_t t = 0; t < tensors; ++t) {
    std::set<std::uint32_t> held;
    for (std::uint64_t k = random() % (arity + 1); k > 0; --k) held.insert(static_cast<std::uint32_t>(random() % dims));
    network.tensors.emplace_back(held.begin(), held.end());
  }
  return network;
}

/// Drops the dims that only one tensor holds. With them, merging a tensor of another component first can pay, because a
/// merge is what sums them; a search that takes components apart does not look for that.
inline Network without_private_dims(Network network) {
  std::vector<int> holders(network.log2_size.size(), 0);
  for (const auto& dims : network.tensors) {
    for (const std::uint32_t d : dims) ++holders[d];
  }
  for (auto& dims : network.tensors) std::erase_if(dims, [&](std::uint32_t d) { return holders[d] == 1; });
  return network;
}

inline Network row(std::uint32_t variables) {
  Network network;
  network.log2_size.assign(variables, 1.0);
  for (std::uint32_t v = 0; v < variables; ++v) {
    network.tensors.push_back({v});
    if (v > 0) network.tensors.push_back({v - 1, v});
  }
  return network;
}

/// Pairwise factors on a grid of binary variables.
inline Network grid(std::uint32_t height, std::uint32_t width) {
  Network network;
  network.log2_size.assign(height * width, 1.0);
  for (std::uint32_t i = 0; i < height; ++i) {
    for (std::uint32_t j = 0; j < width; ++j) {
      const std::uint32_t v = i * width + j;
      if (j + 1 < width) network.tensors.push_back({v, v + 1});
      if (i + 1 < height) network.tensors.push_back({v, v + width});
    }
  }
  return network;
}

/// n − 1 merges, each of two nodes that exist and have not been used.
inline bool is_valid(const Network& network, const Tree& tree) {
  const std::size_t n = network.tensors.size();
  if (tree.merges.size() != (n == 0 ? 0 : n - 1)) return false;
  std::vector<char> used(2 * n, 0);
  for (std::size_t k = 0; k < tree.merges.size(); ++k) {
    for (const std::uint32_t node : {tree.merges[k].first, tree.merges[k].second}) {
      if (node >= n + k || used[node]) return false;
      used[node] = 1;
    }
  }
  return true;
}

/// What is live while a tree is carried out, the slow way: every question is answered by looking at all live sets.
class NaiveContraction {
 public:
  explicit NaiveContraction(const Network& network) : network_(network) {
    for (const auto& dims : network.tensors) nodes_.emplace_back(dims.begin(), dims.end());
    alive_.assign(nodes_.size(), true);
  }

  /// Operations of the merge.
  double merge(std::size_t a, std::size_t b) {
    alive_[a] = alive_[b] = false;
    std::set<std::uint32_t> merged = nodes_[a];
    merged.insert(nodes_[b].begin(), nodes_[b].end());
    double operations = 1;
    std::set<std::uint32_t> kept;
    for (const std::uint32_t d : merged) {
      operations *= std::exp2(network_.log2_size[d]);
      for (std::size_t other = 0; other < nodes_.size(); ++other) {
        if (alive_[other] && nodes_[other].contains(d)) kept.insert(d);
      }
    }
    nodes_.push_back(kept);
    alive_.push_back(true);
    return operations;
  }

  [[nodiscard]] double elements(std::size_t node) const {
    double product = 1;
    for (const std::uint32_t d : nodes_[node]) product *= std::exp2(network_.log2_size[d]);
    return product;
  }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] bool alive(std::size_t node) const { return alive_[node]; }

 private:
  const Network& network_;
  std::vector<std::set<std::uint32_t>> nodes_;
  std::vector<bool> alive_;
};

inline double naive_flops(const Network& network, const Tree& tree) {
  NaiveContraction contraction(network);
  double total = 0;
  for (const auto& [a, b] : tree.merges) total += contraction.merge(a, b);
  return total;
}

/// The least cost over all trees, by trying every pair at every step.
inline double brute_force_flops(const NaiveContraction& contraction) {
  double best = std::numeric_limits<double>::infinity();
  bool merged = false;
  for (std::size_t a = 0; a < contraction.size(); ++a) {
    for (std::size_t b = a + 1; b < contraction.size(); ++b) {
      if (!contraction.alive(a) || !contraction.alive(b)) continue;
      merged = true;
      NaiveContraction next = contraction;
      const double operations = next.merge(a, b);
      best = std::min(best, operations + brute_force_flops(next));
    }
  }
  return merged ? best : 0.0;
}

}  // namespace plated::planner::testing
