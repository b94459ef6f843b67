// Folds tensors into others that hold all of their dims.
#include "planner/order_simplify.hpp"

#include <algorithm>
#include <deque>
#include <optional>

namespace plated::planner {
namespace {

// Candidates looked at for each tensor: a bound that keeps a hub of thousands of tensors linear.
constexpr std::size_t max_candidates = 64;
// A fold may cost this much more than the larger of its two tensors, base 2. It is the private dims of a small one,
// which are summed only by the fold, that would make it cost more.
constexpr double max_growth = 1.0;

/// The dim with the fewest holders among those that others hold, too.
std::optional<std::uint32_t> rarest_shared_dim(const LiveNetwork& live, std::uint32_t node) {
  std::optional<std::uint32_t> rarest;
  for (const std::uint32_t d : live.dims(node)) {
    if (live.degree(d) > 1 && (!rarest || live.degree(d) < live.degree(*rarest))) rarest = d;
  }
  return rarest;
}

bool holds_shared_dims(const LiveNetwork& live, std::uint32_t host, std::uint32_t node) {
  const std::span<const std::uint32_t> dims = live.dims(host);
  auto at = dims.begin();
  for (const std::uint32_t d : live.dims(node)) {
    if (live.degree(d) == 1) continue;
    at = std::lower_bound(at, dims.end(), d);
    if (at == dims.end() || *at != d) return false;
  }
  return true;
}

/// The smallest tensor that the node folds into.
std::optional<std::uint32_t> host_of(LiveNetwork& live, std::uint32_t node) {
  const std::optional<std::uint32_t> dim = rarest_shared_dim(live, node);
  if (!dim) return std::nullopt;
  std::optional<std::uint32_t> best;
  const std::span<const std::uint32_t> holders = live.holders(*dim);
  for (std::size_t i = 0; i < std::min(holders.size(), max_candidates); ++i) {
    // From the youngest: hubs grow at that end.
    const std::uint32_t host = holders[holders.size() - 1 - i];
    if (host == node || (best && live.log2_size(host) >= live.log2_size(*best))) continue;
    if (!holds_shared_dims(live, host, node)) continue;
    const double larger = std::max(live.log2_size(host), live.log2_size(node));
    if (live.sizes(host, node).joint <= larger + max_growth) best = host;
  }
  return best;
}

}  // namespace

void fold_subsets(LiveNetwork& live) {
  const std::vector<std::uint32_t> nodes = live.live_nodes();
  std::deque<std::uint32_t> queue(nodes.begin(), nodes.end());
  // Small tensors first, so that a unary reaches the smallest host before that one folds into another.
  std::stable_sort(queue.begin(), queue.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return live.log2_size(a) < live.log2_size(b); });
  while (!queue.empty()) {
    const std::uint32_t node = queue.front();
    queue.pop_front();
    if (!live.alive(node)) continue;
    if (const std::optional<std::uint32_t> host = host_of(live, node)) queue.push_back(live.merge(node, *host));
  }
}

}  // namespace plated::planner
