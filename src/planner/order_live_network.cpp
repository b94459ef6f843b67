// The bookkeeping of a contraction in progress.
#include "planner/order_live_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/watch.hpp"

namespace plated::planner {

LiveNetwork::LiveNetwork(const Network& network)
    : network_(network),
      nodes_(network.tensors.size()),
      log2_size_(network.tensors.size(), 0.0),
      alive_(network.tensors.size(), 1),
      degree_(network.log2_size.size(), 0),
      held_(network.log2_size.size()) {
  const std::size_t n = network.tensors.size();
  for (const std::vector<std::uint32_t>& dims : network.tensors) {
    live_dims_ += dims.size();
    for (const std::uint32_t d : dims) ++degree_[d];
  }
  nodes_.reserve(2 * n);
  dims_.reserve(2 * live_dims_ + n);
  log2_size_.reserve(2 * n);
  alive_.reserve(2 * n);
  joint_.reserve(n);
  tree_.merges.reserve(n);
  holders_.resize(2 * live_dims_);
  for (std::size_t d = 1; d < held_.size(); ++d) held_[d].begin = held_[d - 1].begin + 2 * degree_[d - 1];
  for (std::size_t t = 0; t < n; ++t) {
    nodes_[t] = {dims_.size(), network.tensors[t].size()};
    for (const std::uint32_t d : network.tensors[t]) {
      dims_.push_back(d);
      holders_[held_[d].begin + held_[d].count++] = static_cast<std::uint32_t>(t);
      log2_size_[t] += network.log2_size[d];
    }
  }
}

/// Dims of dead nodes make room for those of new ones. Room never shrinks, so that this happens rarely.
void LiveNetwork::make_room(std::size_t dims) {
  if (dims_.size() + dims <= dims_.capacity()) return;
  std::vector<std::uint32_t> packed;
  packed.reserve(std::max(dims_.capacity(), 2 * (live_dims_ + dims)));
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (!alive(node)) continue;
    const std::span<const std::uint32_t> list = this->dims(node);
    nodes_[node].begin = packed.size();
    packed.insert(packed.end(), list.begin(), list.end());
  }
  dims_ = std::move(packed);
}

void LiveNetwork::drop_dead_holders(std::uint32_t dim) {
  const auto begin = holders_.begin() + static_cast<std::ptrdiff_t>(held_[dim].begin);
  const auto end = begin + static_cast<std::ptrdiff_t>(held_[dim].count);
  const auto last = std::remove_if(begin, end, [&](std::uint32_t node) { return !alive(node); });
  held_[dim].count = static_cast<std::size_t>(last - begin);
}

/// There is room once the dead are gone: degrees only fall.
void LiveNetwork::add_holder(std::uint32_t dim, std::uint32_t node) {
  const std::size_t end = dim + 1 < held_.size() ? held_[dim + 1].begin : holders_.size();
  if (held_[dim].begin + held_[dim].count == end) drop_dead_holders(dim);
  holders_[held_[dim].begin + held_[dim].count++] = node;
}

std::uint32_t LiveNetwork::merge(std::uint32_t a, std::uint32_t b) {
  base::check_wanted();  // every search comes by here
  const auto merged = static_cast<std::uint32_t>(nodes_.size());
  make_room(nodes_[a].count + nodes_[b].count);
  const std::size_t begin = dims_.size();
  alive_[a] = alive_[b] = 0;
  double size = 0;
  double joint = 0;
  const auto keep = [&](std::uint32_t d) {
    joint += network_.log2_size[d];
    // A degree of one counts only the new node: the dim ends here.
    if (degree_[d] == 1) {
      degree_[d] = 0;
      return;
    }
    dims_.push_back(d);
    size += network_.log2_size[d];
    add_holder(d, merged);
  };
  const std::span<const std::uint32_t> x = dims(a);
  const std::span<const std::uint32_t> y = dims(b);
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
  nodes_.push_back({begin, dims_.size() - begin});
  live_dims_ += nodes_[merged].count;
  live_dims_ -= nodes_[a].count + nodes_[b].count;
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

std::span<const std::uint32_t> LiveNetwork::holders(std::uint32_t dim) {
  if (held_[dim].count != degree_[dim]) drop_dead_holders(dim);
  return {holders_.data() + held_[dim].begin, held_[dim].count};
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
  const std::span<const std::uint32_t> x = dims(a);
  const std::span<const std::uint32_t> y = dims(b);
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
