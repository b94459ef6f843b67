// Keeps the orders of large networks.
#include "planner/order_memo.hpp"

namespace plated::planner {
namespace {

// Smaller ones are ordered in no time, and a graph may have very many of them.
constexpr std::size_t smallest_kept = 16;
constexpr std::size_t most_kept = 64;

bool same(const Network& a, const Network& b) {
  return a.log2_size == b.log2_size && a.tensors == b.tensors && a.sliced == b.sliced;
}

}  // namespace

std::optional<Tree> OrderMemo::find(const Network& network) const {
  if (network.tensors.size() < smallest_kept) return std::nullopt;
  const std::scoped_lock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (same(entry.network, network)) return entry.tree;
  }
  return std::nullopt;
}

void OrderMemo::keep(const Network& network, const Tree& tree) {
  if (network.tensors.size() < smallest_kept) return;
  const std::scoped_lock lock(mutex_);
  if (entries_.size() < most_kept) entries_.push_back({network, tree});
}

}  // namespace plated::planner
