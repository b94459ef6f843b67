// Orders a whole network: splits it into components, folds what needs no search, searches the rest, joins the trees.
#include "planner/contraction_order.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/disjoint_sets.hpp"
#include "planner/order_elimination.hpp"
#include "planner/order_fitting.hpp"
#include "planner/order_greedy.hpp"
#include "planner/order_live_network.hpp"
#include "planner/order_memo.hpp"
#include "planner/order_min_fill.hpp"
#include "planner/order_optimal.hpp"
#include "planner/order_search.hpp"
#include "planner/order_simplify.hpp"

namespace plated::planner {
namespace {

// Tensors up to which dynamic programming is instant, and up to which it is worth it when asked for: 3^n / 2 steps.
constexpr std::size_t instant_optimal = 12;
constexpr std::size_t patient_optimal = 15;

// Where memory is short, some more trees are looked at.
constexpr int fewest_trials_of_a_limit = 64;

constexpr std::uint32_t unset = 0xFFFFFFFFu;

/// A part of a network as one of its own; tensor i is node `nodes[i]` of the whole.
struct Part {
  Network network;
  std::vector<std::uint32_t> nodes;
};

/// `local_dim` is scratch, all unset before and after: a fresh one for each of many parts would cost their number times
/// dims.
Part part_of(const LiveNetwork& live, std::vector<std::uint32_t> nodes, std::vector<std::uint32_t>& local_dim) {
  Part part;
  for (const std::uint32_t node : nodes) {
    std::vector<std::uint32_t> dims(live.dims(node).begin(), live.dims(node).end());
    for (std::uint32_t& d : dims) {
      if (local_dim[d] == unset) {
        local_dim[d] = static_cast<std::uint32_t>(part.network.log2_size.size());
        part.network.log2_size.push_back(live.log2_dim(d));
        part.network.sliced.push_back(live.is_sliced(d));
      }
      d = local_dim[d];
    }
    std::sort(dims.begin(), dims.end());
    part.network.tensors.push_back(std::move(dims));
  }
  for (const std::uint32_t node : nodes) {
    for (const std::uint32_t d : live.dims(node)) local_dim[d] = unset;
  }
  part.nodes = std::move(nodes);
  return part;
}

/// Carries out a part's tree in the whole and returns its root.
std::uint32_t replay(LiveNetwork& live, const Part& part, const Tree& tree) {
  std::vector<std::uint32_t> ids = part.nodes;
  for (const auto& [a, b] : tree.merges) ids.push_back(live.merge(ids[a], ids[b]));
  return ids.back();
}

/// Nodes that share dims, directly or through others; components in the order of their first nodes.
std::vector<std::vector<std::uint32_t>> components(LiveNetwork& live, std::size_t dims) {
  const std::vector<std::uint32_t> nodes = live.live_nodes();
  const std::size_t count = nodes.empty() ? 0 : nodes.back() + 1;
  base::DisjointSets sets(count);
  for (std::uint32_t d = 0; d < dims; ++d) {
    const std::span<const std::uint32_t> holders = live.holders(d);
    for (std::size_t i = 1; i < holders.size(); ++i) sets.join(holders[0], holders[i]);
  }
  std::vector<std::vector<std::uint32_t>> result;
  std::vector<std::uint32_t> index(count, 0);  // [root]: its component, from 1
  for (const std::uint32_t node : nodes) {
    std::uint32_t& i = index[sets.root(node)];
    if (i == 0) {
      result.emplace_back();
      i = static_cast<std::uint32_t>(result.size());
    }
    result[i - 1].push_back(node);
  }
  return result;
}

/// Orders the components of one network, with one budget for all of them.
class Orderer {
 public:
  Orderer(const Network& network, const OrderOptions& options)
      : strategy_(options.strategy),
        search_{affordable_trials(options.trials, network.tensors.size()), options.seed, options.runs,
                options.log2_most},
        deadline_(options.seconds) {}

  /// None where the strategy is not after the optimum, or the network is too large for it.
  [[nodiscard]] std::optional<Tree> optimal(const Network& network) const {
    if (!std::isinf(search_.log2_most)) return fitting_order(network, instant_optimal, search_.log2_most);
    if (strategy_ == Strategy::automatic) return optimal_order(network, instant_optimal);
    if (strategy_ == Strategy::optimal) return optimal_order(network, patient_optimal);
    return std::nullopt;
  }

  /// One connected component: what is left after folding is ordered by itself.
  [[nodiscard]] Tree component(const Network& network) const {
    if (std::optional<Tree> tree = optimal(network)) return std::move(*tree);
    LiveNetwork live(network);
    fold_subsets(live);
    std::vector<std::uint32_t> nodes = live.live_nodes();
    if (nodes.size() > 1) {
      std::vector<std::uint32_t> local_dim(network.log2_size.size(), unset);
      const Part rest = part_of(live, std::move(nodes), local_dim);
      replay(live, rest, folded(rest.network));
    }
    // Folding is good but not always best: the whole tree may still gain a little.
    return searches() ? polish_order(network, live.take_tree(), search_, deadline_) : live.take_tree();
  }

 private:
  [[nodiscard]] bool searches() const { return strategy_ == Strategy::automatic || strategy_ == Strategy::search; }

  [[nodiscard]] Tree folded(const Network& network) const {
    if (std::optional<Tree> tree = optimal(network)) return std::move(*tree);
    if (searches()) return search_order(network, search_, deadline_);
    base::Random random(search_.seed);
    LiveNetwork live(network);
    if (strategy_ == Strategy::min_fill) {
      eliminate_in_order(live, min_fill_order(DimGraph(network), {}, random));
    } else {
      contract_greedily(live, {}, random);
    }
    return live.take_tree();
  }

  Strategy strategy_;
  SearchOptions search_;
  Deadline deadline_;
};

Tree searched_order(const Network& network, const OrderOptions& options) {
  const Orderer orderer(network, options);
  if (std::optional<Tree> tree = orderer.optimal(network)) return std::move(*tree);
  LiveNetwork live(network);
  std::vector<std::uint32_t> local_dim(network.log2_size.size(), unset);
  std::vector<std::uint32_t> roots;
  for (std::vector<std::uint32_t>& nodes : components(live, network.log2_size.size())) {
    if (nodes.size() == 1) {
      roots.push_back(nodes.front());
      continue;
    }
    const Part part = part_of(live, std::move(nodes), local_dim);
    roots.push_back(replay(live, part, orderer.component(part.network)));
  }
  // Scalars first: a tensor left alone with its dims then meets a scalar, never another such tensor.
  join_smallest_first(live, roots);
  return live.take_tree();
}

/// The order of fewest operations that was found or, where that takes too much memory, of those that take less.
Tree order_within(const Network& network, const OrderOptions& options) {
  if (std::isinf(options.log2_most)) return searched_order(network, options);
  OrderOptions any = options;
  any.log2_most = std::numeric_limits<double>::infinity();
  Tree tree = searched_order(network, any);
  if (log2_peak(network, tree) <= options.log2_most) return tree;
  // The optimum is of operations alone: other trees are looked for.
  OrderOptions small = options;
  small.strategy = Strategy::search;
  small.trials = std::max(options.trials, fewest_trials_of_a_limit);
  small.runs = 0;
  Tree smaller = searched_order(network, small);
  return log2_peak(network, smaller) < log2_peak(network, tree) ? smaller : tree;
}

}  // namespace

Tree contraction_order(const Network& network, const OrderOptions& options) {
  if (!options.memo) return order_within(network, options);
  if (std::optional<Tree> known = options.memo->find(network)) return std::move(*known);
  Tree tree = order_within(network, options);
  options.memo->keep(network, tree);
  return tree;
}

}  // namespace plated::planner
