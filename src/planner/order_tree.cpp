// Trees with dims as bit sets.
#include "planner/order_tree.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "planner/order_live_network.hpp"

namespace plated::planner {
namespace {

constexpr double max_log2_flops = 1000;

/// Population count by halving: the compiler's own is a library call where the target has no instruction for it.
int count_bits(std::uint64_t x) {
  x -= x >> 1 & 0x5555555555555555u;
  x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
  x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
  return static_cast<int>(x * 0x0101010101010101u >> 56);
}

}  // namespace

OrderTree::OrderTree(const Network& network, const Tree& tree)
    : leaves_(static_cast<std::uint32_t>(network.tensors.size())) {
  lay_out(network);
  const std::size_t n = nodes();
  links_.resize(n);
  bits_.assign(n * words(), 0);
  flops_.assign(n, 0.0);
  scratch_.resize(words());
  root_ = static_cast<std::uint32_t>(n - 1);

  LiveNetwork live(network);
  const auto store = [&](std::uint32_t node) {
    for (const std::uint32_t d : live.dims(node)) mutable_dims(node)[position_[d] / 64] |= Word{1} << position_[d] % 64;
  };
  for (std::uint32_t t = 0; t < leaves_; ++t) store(t);
  for (const auto& [a, b] : tree.merges) {
    const std::uint32_t node = live.merge(a, b);
    link(node, a, b);
    store(node);
    flops_[node] = union_flops(dims(a), dims(b));
  }
}

void OrderTree::lay_out(const Network& network) {
  position_.assign(network.log2_size.size(), 0);
  std::vector<char> used(network.log2_size.size(), 0);
  for (const std::vector<std::uint32_t>& dims : network.tensors) {
    for (const std::uint32_t d : dims) used[d] = 1;
  }
  std::map<double, std::vector<std::uint32_t>> by_size;
  for (std::uint32_t d = 0; d < used.size(); ++d) {
    if (used[d]) by_size[network.log2_size[d]].push_back(d);
  }
  for (const auto& [size, same] : by_size) {
    for (std::size_t i = 0; i < same.size(); ++i) {
      if (i % 64 == 0) log2_dim_.push_back(size);
      position_[same[i]] = static_cast<std::uint32_t>(64 * (log2_dim_.size() - 1) + i % 64);
    }
  }
}

void OrderTree::link(std::uint32_t node, std::uint32_t left, std::uint32_t right) {
  links_[node].left = left;
  links_[node].right = right;
  links_[left].parent = node;
  links_[right].parent = node;
}

double OrderTree::union_flops(const Word* a, const Word* b) const {
  double log2 = 0;
  for (std::size_t w = 0; w < words(); ++w) log2 += count_bits(a[w] | b[w]) * log2_dim_[w];
  return std::exp2(std::min(log2, max_log2_flops));
}

OrderTree::Rotation OrderTree::price(std::uint32_t node, std::uint32_t child, std::uint32_t c) {
  Rotation r{};
  r.node = node;
  r.child = child;
  r.a = left(node) == child ? right(node) : left(node);
  r.c = c;
  r.d = left(child) == c ? right(child) : left(child);
  const Word* a = dims(r.a);
  const Word* d = dims(r.d);
  const Word* outer = dims(node);
  const Word* other = dims(c);
  double child_log2 = 0;
  double node_log2 = 0;
  for (std::size_t w = 0; w < words(); ++w) {
    const Word joint = a[w] | d[w];
    // Most sets are small beside the network: skip the words that they leave empty.
    if ((joint | other[w]) == 0) {
      scratch_[w] = 0;
      continue;
    }
    // A dim of a or d is needed above the new child exactly where c or the rest of the network holds it.
    scratch_[w] = joint & (outer[w] | other[w]);
    child_log2 += count_bits(joint) * log2_dim_[w];
    node_log2 += count_bits(scratch_[w] | other[w]) * log2_dim_[w];
  }
  r.child_flops = std::exp2(std::min(child_log2, max_log2_flops));
  r.node_flops = std::exp2(std::min(node_log2, max_log2_flops));
  return r;
}

void OrderTree::rotate(const Rotation& r) {
  link(r.child, r.a, r.d);
  link(r.node, r.child, r.c);
  std::copy(scratch_.begin(), scratch_.end(), mutable_dims(r.child));
  flops_[r.child] = r.child_flops;
  flops_[r.node] = r.node_flops;
}

void OrderTree::refresh(std::uint32_t node, const Word* kept) {
  const Word* a = dims(left(node));
  const Word* b = dims(right(node));
  flops_[node] = union_flops(a, b);
  for (std::size_t w = 0; w < words(); ++w) mutable_dims(node)[w] = (a[w] | b[w]) & kept[w];
}

double OrderTree::total_flops() const {
  double total = 0;
  for (std::uint32_t node = leaves_; node < nodes(); ++node) total += flops_[node];
  return total;
}

Tree OrderTree::to_tree() const {
  std::vector<std::uint32_t> top_down{root_};
  for (std::size_t i = 0; i < top_down.size(); ++i) {
    if (is_leaf(top_down[i])) continue;
    top_down.push_back(left(top_down[i]));
    top_down.push_back(right(top_down[i]));
  }
  Tree tree;
  std::vector<std::uint32_t> id(nodes());
  for (std::size_t i = top_down.size(); i-- > 0;) {
    const std::uint32_t node = top_down[i];
    if (is_leaf(node)) {
      id[node] = node;
    } else {
      id[node] = static_cast<std::uint32_t>(leaves_ + tree.merges.size());
      tree.merges.emplace_back(id[left(node)], id[right(node)]);
    }
  }
  return tree;
}

}  // namespace plated::planner
