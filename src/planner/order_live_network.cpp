// The bookkeeping of a contraction in progress.
#include "planner/order_live_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/watch.hpp"

namespace plated::planner {

LiveNetwork::LiveNetwork(const Network& network)
    : network_(network),
      dims_(network.tensors),
      log2_size_(network.tensors.size(), 0.0),
      alive_(network.tensors.size(), 1),
      degree_(network.log2_size.size(), 0),
      holders_(network.log2_size.size()) {
  const std::size_t n = network.tensors.size();
  dims_.reserve(2 * n);
  log2_size_.reserve(2 * n);
  alive_.reserve(2 * n);
  joint_.reserve(n);
  tree_.merges.reserve(n);
  for (std::size_t t = 0; t < n; ++t) {
    for (const std::uint32_t d : dims_[t]) {
      ++degree_[d];
      holders_[d].push_back(static_cast<std::uint32_t>(t));
      log2_size_[t] += network.log2_size[d];
    }
  }
}

std::uint32_t LiveNetwork::merge(std::uint32_t a, std::uint32_t b) {
  base::check_wanted();  // every search comes by here
  const auto merged = static_cast<std::uint32_t>(dims_.size());
  std::vector<std::uint32_t> kept;
  kept.reserve(dims_[a].size() + dims_[b].size());
  double size = 0;
  double joint = 0;
  const auto keep = [&](std::uint32_t d) {
    joint += network_.log2_size[d];
    // A degree of one counts only the new node: the dim ends here.
    if (degree_[d] == 1) {
      degree_[d] = 0;
      return;
    }
    kept.push_back(d);
    size += network_.log2_size[d];
    holders_[d].push_back(merged);
  };
  const std::vector<std::uint32_t>& x = dims_[a];
  const std::vector<std::uint32_t>& y = dims_[b];
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.size() || j < y.size()) {
    if (j == y.size() || (i < x.size() && x[i] < y[j])) {
      keep(x[i++]);
    } else if (i == x.size() || y[j] < x[i]) {
      keep(y[j++]);
    } else {
      --degree_[x[i]];
      keep(x[i]);
      ++i;
      ++j;
    }
  }
  alive_[a] = alive_[b] = 0;
  dims_[a] = {};
  dims_[b] = {};
  dims_.push_back(std::move(kept));
  log2_size_.push_back(size);
  alive_.push_back(1);
  joint_.push_back(joint);
  tree_.merges.emplace_back(a, b);
  return merged;
}

double LiveNetwork::log2_flops() const {
  if (joint_.empty()) return -std::numeric_limits<double>::infinity();
  // Relative to the largest, so that no power overflows.
  const double largest = *std::max_element(joint_.begin(), joint_.end());
  double sum = 0;
  for (const double joint : joint_) sum += std::exp2(joint - largest);
  return largest + std::log2(sum);
}

const std::vector<std::uint32_t>& LiveNetwork::holders(std::uint32_t dim) {
  std::vector<std::uint32_t>& list = holders_[dim];
  if (list.size() != degree_[dim]) std::erase_if(list, [&](std::uint32_t node) { return !alive(node); });
  return list;
}

std::vector<std::uint32_t> LiveNetwork::live_nodes() const {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < alive_.size(); ++node) {
    if (alive(node)) nodes.push_back(node);
  }
  return nodes;
}

LiveNetwork::Sizes LiveNetwork::sizes(std::uint32_t a, std::uint32_t b) const {
  Sizes sizes{0, 0};
  const std::vector<std::uint32_t>& x = dims_[a];
  const std::vector<std::uint32_t>& y = dims_[b];
  const auto add = [&](std::uint32_t d, std::uint32_t holders_inside) {
    sizes.joint += network_.log2_size[d];
    if (degree_[d] > holders_inside) sizes.result += network_.log2_size[d];
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.size() && j < y.size()) {
    if (x[i] < y[j]) {
      add(x[i++], 1);
    } else if (y[j] < x[i]) {
      add(y[j++], 1);
    } else {
      add(x[i], 2);
      ++i;
      ++j;
    }
  }
  for (; i < x.size(); ++i) add(x[i], 1);
  for (; j < y.size(); ++j) add(y[j], 1);
  return sizes;
}

}  // namespace plated::planner
