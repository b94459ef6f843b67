// Dynamic programming over subsets: the best tree of a set is the best split of it into two best trees.
#include "planner/order_optimal.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "base/watch.hpp"
#include "planner/order_greedy.hpp"
#include "planner/order_live_network.hpp"

namespace plated::planner {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// None where the classes do not fit a mask.
std::optional<SmallNetwork> classify(const Network& network) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> incidences;  // dim, tensor
  for (std::uint32_t t = 0; t < network.tensors.size(); ++t) {
    for (const std::uint32_t d : network.tensors[t]) incidences.emplace_back(d, t);
  }
  std::sort(incidences.begin(), incidences.end());

  SmallNetwork small;
  small.tensors = network.tensors.size();
  std::array<std::uint32_t, SmallNetwork::max_classes> holders{};  // [class]: mask of tensors
  std::array<double, SmallNetwork::max_classes> log2_size{};
  for (std::size_t i = 0; i < incidences.size();) {
    const std::uint32_t d = incidences[i].first;
    std::uint32_t mask = 0;
    for (; i < incidences.size() && incidences[i].first == d; ++i) mask |= 1u << incidences[i].second;
    const auto end = holders.begin() + static_cast<std::ptrdiff_t>(small.classes);
    const auto c = static_cast<std::size_t>(std::find(holders.begin(), end, mask) - holders.begin());
    if (c == SmallNetwork::max_classes) return std::nullopt;
    small.classes = std::max(small.classes, c + 1);
    holders[c] = mask;
    log2_size[c] += network.log2_size[d];
  }
  for (std::size_t c = 0; c < small.classes; ++c) {
    small.size[c] = std::exp2(log2_size[c]);
    for (std::size_t t = 0; t < small.tensors; ++t) {
      if (holders[c] >> t & 1) small.held[t] |= std::uint64_t{1} << c;
    }
  }
  return small;
}

/// What a greedy tree costs, and a little more: partial trees as dear as that need no look. Not worth it for the
/// smallest.
double greedy_bound(const Network& network) {
  if (network.tensors.size() < 7) return infinity;
  LiveNetwork live(network);
  base::Random random(0);
  contract_greedily(live, {}, random);
  return std::exp2(live.log2_flops()) * (1 + 1e-6);
}

}  // namespace

void OptimalSolver::tabulate(const SmallNetwork& network) {
  tensors_ = network.tensors;
  bytes_ = (network.classes + 7) / 8;
  for (std::size_t byte = 0; byte < bytes_; ++byte) {
    std::array<double, 256>& table = byte_product_[byte];
    const std::size_t width = std::min<std::size_t>(8, network.classes - 8 * byte);
    table[0] = 1;
    for (std::size_t bit = 0; bit < width; ++bit) {
      const double size = network.size[8 * byte + bit];
      for (std::size_t low = 0; low < (std::size_t{1} << bit); ++low) {
        table[low | (std::size_t{1} << bit)] = table[low] * size;
      }
    }
  }
  const std::size_t subsets = std::size_t{1} << tensors_;
  if (cost_.size() < subsets) {
    touched_.resize(subsets);
    open_.resize(subsets);
    cost_.resize(subsets);
    split_.resize(subsets);
  }
  touched_[0] = 0;
  for (std::size_t s = 1; s < subsets; ++s) {
    touched_[s] = touched_[s & (s - 1)] | network.held[static_cast<std::size_t>(std::countr_zero(s))];
  }
}

double OptimalSolver::product(std::uint64_t classes) const {
  double result = byte_product_[0][classes & 255];
  for (std::size_t byte = 1; byte < bytes_; ++byte) result *= byte_product_[byte][classes >> (8 * byte) & 255];
  return result;
}

void OptimalSolver::solve_subset(std::uint32_t subset, std::uint64_t open, double bound) {
  // Whatever the last merge, it touches at least the dims that stay open.
  const double floor = product(open);
  double best = bound;
  std::uint32_t best_split = 0;
  open_[subset] = open;
  // Descending submasks: those with the top bit come first, and each of them stands for its complement, too.
  for (std::uint32_t side = (subset - 1) & subset; floor < best && side > (subset ^ side); side = (side - 1) & subset) {
    const std::uint32_t other = subset ^ side;
    const double parts = cost_[side] + cost_[other];
    if (parts + floor >= best) continue;
    const double cost = parts + product(open_[side] | open_[other]);
    if (cost < best) {
      best = cost;
      best_split = side;
    }
  }
  cost_[subset] = best_split ? best : infinity;
  split_[subset] = static_cast<std::uint16_t>(best_split);
}

double OptimalSolver::solve(const SmallNetwork& network, double bound) {
  tabulate(network);
  const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << tensors_) - 1);
  for (std::uint32_t s = 1; s <= all; ++s) {
    if (s % 1024 == 0) base::check_wanted();
    if (std::has_single_bit(s)) {
      // A tensor as given keeps the dims that only it holds: its first merge sums them.
      open_[s] = touched_[s];
      cost_[s] = 0;
    } else {
      solve_subset(s, touched_[s] & (network.outside | touched_[all ^ s]), bound);
    }
  }
  return cost_[all];
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> OptimalSolver::merges() const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
  // Subsets from the root down, then numbered in reverse, so that children come before parents.
  std::vector<std::uint32_t> subsets{static_cast<std::uint32_t>((std::uint64_t{1} << tensors_) - 1)};
  for (std::size_t i = 0; i < subsets.size(); ++i) {
    if (std::has_single_bit(subsets[i])) continue;
    subsets.push_back(split_[subsets[i]]);
    subsets.push_back(subsets[i] ^ split_[subsets[i]]);
  }
  std::vector<std::uint32_t>
      ready;  // ids of subsets whose parent is still to come, in the order that parents take them
  for (std::size_t i = subsets.size(), next = 0; i-- > 0;) {
    const std::uint32_t s = subsets[i];
    if (std::has_single_bit(s)) {
      ready.push_back(static_cast<std::uint32_t>(std::countr_zero(s)));
    } else {
      result.emplace_back(ready[next], ready[next + 1]);
      next += 2;
      ready.push_back(static_cast<std::uint32_t>(tensors_ + result.size() - 1));
    }
  }
  return result;
}

std::optional<Tree> optimal_order(const Network& network, std::size_t limit) {
  const std::size_t n = network.tensors.size();
  if (n > limit || n > SmallNetwork::max_tensors) return std::nullopt;
  if (n <= 1) return Tree{};
  if (n == 2) return Tree{{{0, 1}}};
  const std::optional<SmallNetwork> small = classify(network);
  if (!small) return std::nullopt;
  OptimalSolver solver;
  if (solver.solve(*small, greedy_bound(network)) == infinity) return std::nullopt;
  return Tree{solver.merges()};
}

}  // namespace plated::planner
