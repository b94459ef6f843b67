// Of each subset, the split that fits and costs least.
#include "planner/order_fitting.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/watch.hpp"

namespace plated::planner {
namespace {

// What a subset may take, as shares of all memory: a cheap subtree may leave too little for the rest. The last one asks
// for the least peak alone.
constexpr double shares[] = {1, 0.5, 0.25, 0.1, 0};

class FittingSolver {
 public:
  explicit FittingSolver(const Network& network)
      : tensors_(network.tensors.size()), all_((std::size_t{1} << tensors_) - 1), nodes_(all_ + 1) {
    std::vector<std::size_t> holders(network.log2_size.size(), 0);
    for (std::size_t t = 0; t < tensors_; ++t) {
      for (const std::uint32_t d : network.tensors[t]) holders[d] |= std::size_t{1} << t;
    }
    for (std::size_t set = 1; set <= all_; ++set) {
      Node& node = nodes_[set];
      const bool given = std::has_single_bit(set);
      double log2 = 0;
      for (std::size_t d = 0; d < holders.size(); ++d) {
        // Dims that only one tensor holds are summed in its first merge.
        const bool open = (holders[d] & set) != 0 && (given || (holders[d] & ~set) != 0);
        if (!open) continue;
        node.open.push_back(static_cast<std::uint32_t>(d));
        if (network.sliced.empty() || !network.sliced[d]) log2 += network.log2_size[d];
      }
      node.own = given ? 0 : std::exp2(log2);
    }
    log2_size_ = network.log2_size;
  }

  Tree solve(double most) {
    for (std::size_t set = 1; set <= all_; ++set) {
      if (set % 64 == 0) base::check_wanted();
      if (!std::has_single_bit(set)) solve_subset(set, most);
    }
    Tree tree;
    (void)emit(all_, tree);
    return tree;
  }

 private:
  struct Node {
    std::vector<std::uint32_t> open;
    double own = 0;
    double peak = 0;
    double flops = 0;
    std::size_t split = 0;
  };

  void solve_subset(std::size_t set, double most) {
    Node& node = nodes_[set];
    node.peak = node.flops = std::numeric_limits<double>::infinity();
    // Each split once: the side with the lowest tensor.
    for (std::size_t a = (set - 1) & set; a > 0; a = (a - 1) & set) {
      if ((a & set & (~set + 1)) == 0) continue;
      const Node& x = nodes_[a];
      const Node& y = nodes_[set ^ a];
      const Node& first = x.peak < y.peak ? y : x;
      const Node& later = x.peak < y.peak ? x : y;
      const double peak = std::max({first.peak, first.own + later.peak, x.own + y.own + node.own});
      const bool fits = peak <= most;
      const bool fitted = node.peak <= most;
      if (fits != fitted ? !fits : !fits && peak > node.peak) continue;
      const double flops = x.flops + y.flops + joint(x, y);
      if (fits == fitted && (fits || peak == node.peak) && flops >= node.flops) continue;
      node.peak = peak;
      node.flops = flops;
      node.split = a;
    }
  }

  [[nodiscard]] double joint(const Node& x, const Node& y) const {
    double log2 = 0;
    for (const std::uint32_t d : x.open) log2 += log2_size_[d];
    for (const std::uint32_t d : y.open) {
      if (!std::binary_search(x.open.begin(), x.open.end(), d)) log2 += log2_size_[d];
    }
    return std::exp2(log2);
  }

  [[nodiscard]] std::uint32_t emit(std::size_t set, Tree& tree) const {
    if (std::has_single_bit(set)) return static_cast<std::uint32_t>(std::countr_zero(set));
    const std::uint32_t a = emit(nodes_[set].split, tree);
    const std::uint32_t b = emit(set ^ nodes_[set].split, tree);
    tree.merges.emplace_back(a, b);
    return static_cast<std::uint32_t>(tensors_ + tree.merges.size() - 1);
  }

  std::size_t tensors_;
  std::size_t all_;
  std::vector<Node> nodes_;  // [subset]
  std::vector<double> log2_size_;
};

}  // namespace

std::optional<Tree> fitting_order(const Network& network, std::size_t limit, double log2_most) {
  if (network.tensors.size() > limit || network.tensors.size() < 2) return std::nullopt;
  FittingSolver solver(network);
  std::optional<Tree> best;
  const auto key = [&](const Tree& tree) {
    return std::pair(std::max(0.0, log2_peak(network, tree) - log2_most), log2_flops(network, tree));
  };
  for (const double share : shares) {
    Tree tree = solver.solve(share * std::exp2(log2_most));
    if (!best || key(tree) < key(*best)) best = std::move(tree);
  }
  return best;
}

}  // namespace plated::planner
