// Restarts, then improves. All budgets count work, so that the same options give the same tree on any machine.
#include "planner/order_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "planner/order_anneal.hpp"
#include "planner/order_dim_graph.hpp"
#include "planner/order_elimination.hpp"
#include "planner/order_greedy.hpp"
#include "planner/order_min_fill.hpp"
#include "planner/order_reconfigure.hpp"
#include "planner/order_sweep.hpp"
#include "planner/order_tree.hpp"

namespace plated::planner {
namespace {

// Tensors up to which a network gets all of its trials.
constexpr double full_budget_tensors = 512;
// Deterministic restarts, one of each kind, that even the largest network gets.
constexpr int fixed_restarts = 5;
// Trees that are improved.
constexpr std::size_t pool_size = 4;
// One unit of work is a greedy pass's visit of one tensor, about a microsecond: the time of this many flops. Half as
// many would search twice as long, and find orders that are no cheaper for the sweeps of most questions.
constexpr double flops_a_visit = 2000;
// In such units:
constexpr double moves_a_visit = 24;   // rotations, for sets of up to `usual_words` words
constexpr double visits_a_piece = 24;  // a piece solved to optimality
constexpr std::size_t usual_words = 8;
// Words in all the bit sets of a tree, beyond which a tree is not improved: the sets would not stay in any cache.
constexpr std::size_t max_words = std::size_t{1} << 22;

/// How much dearer than usual the bit sets of a network of that many dims are.
double word_factor(std::size_t dims) {
  return std::max(1.0, (std::floor(static_cast<double>(dims) / 64) + 1) / static_cast<double>(usual_words));
}

bool improvable(const Network& network) {
  return 2 * network.tensors.size() * (network.log2_size.size() / 64 + 1) <= max_words;
}

/// Trials that cost as much as the runs of an order.
double worth_trials(const Network& network, double runs, double log2_flops) {
  return runs * std::exp2(log2_flops) / (flops_a_visit * static_cast<double>(network.tensors.size()));
}

class Search {
 public:
  Search(const Network& network, const SearchOptions& options, const Deadline& deadline)
      : network_(network),
        deadline_(deadline),
        graph_(network),
        options_(options),
        random_(options.seed),
        trials_(options.trials),
        runs_(options.runs) {}

  Tree run() {
    for (int trial = 0; trial < std::max<double>(trials_, fixed_restarts); ++trial) {
      if (trial > 0 && deadline_.passed()) break;
      // Short networks are not worth all of the fixed ones either.
      if (trial > 1 && worth(pool_.front().log2_flops) < trial) break;
      restart(trial);
    }
    trials_ = std::min(trials_, worth(pool_.front().log2_flops));
    improve();
    return std::move(pool_.front().tree);
  }

 private:
  struct Candidate {
    double cost;
    double log2_flops;
    Tree tree;
  };

  [[nodiscard]] double worth(double log2_flops) const {
    return runs_ == 0 ? std::numeric_limits<double>::infinity() : worth_trials(network_, runs_, log2_flops);
  }

  void eliminate(const std::vector<std::uint32_t>& order) {
    LiveNetwork live(network_);
    eliminate_in_order(live, order);
    offer(live.log2_flops(), live.take_tree());
  }

  void eliminate(EliminationRule rule, double noise) { eliminate(min_fill_order(graph_, {rule, noise}, random_)); }

  void greedy(const GreedyOptions& options) {
    LiveNetwork live(network_);
    contract_greedily(live, options, random_);
    offer(live.log2_flops(), live.take_tree());
  }

  void restart(int trial) {
    switch (trial) {
      case 0:
        return greedy({});
      case 1:
        return eliminate(EliminationRule::fill, 0);
      case 2:
        return eliminate(EliminationRule::weighted_fill, 0);
      case 3:
        return eliminate(sweep_order(graph_, peripheral_dim(graph_, graph_.used.front()), SweepRule::front));
      case 4:
        return eliminate(sweep_order(graph_, peripheral_dim(graph_, graph_.used.front()), SweepRule::breadth));
      default:
        return noisy_restart(trial);
    }
  }

  /// The kinds take turns. Small noise only shuffles near ties, large noise explores: both have their networks.
  void noisy_restart(int trial) {
    const double noise = std::exp2(-4 + 4 * random_.uniform());
    switch (trial % 8) {
      case 0:
      case 1:
      case 2:
        return greedy({std::exp2(-3 + 4 * random_.uniform()), std::exp2(-6 + 7 * random_.uniform())});
      case 3:
      case 4:
        return eliminate(EliminationRule::fill, noise);
      case 5:
        return eliminate(EliminationRule::weighted_fill, noise);
      case 6:
        return eliminate(EliminationRule::size, noise / 4);
      default: {
        const std::uint32_t start = graph_.used[random_.below(static_cast<std::uint32_t>(graph_.used.size()))];
        return eliminate(sweep_order(graph_, start, SweepRule::front));
      }
    }
  }

  /// Keeps the best few, best first.
  void offer(double log2_flops, Tree tree) {
    const double cost = options_.cost(network_, tree, log2_flops);
    const auto better = [](double c, const Candidate& other) { return c < other.cost; };
    const auto at = std::upper_bound(pool_.begin(), pool_.end(), cost, better);
    // The same cost is most likely the same tree, found again.
    if (at != pool_.begin() && std::prev(at)->cost == cost) return;
    pool_.insert(at, {cost, log2_flops, std::move(tree)});
    if (pool_.size() > pool_size) pool_.pop_back();
  }

  void offer(Tree tree) {
    const double flops = log2_flops(network_, tree);
    offer(flops, std::move(tree));
  }

  /// Anneals each of the pool, with as much work as the restarts took.
  void improve() {
    if (!improvable(network_) || trials_ < 1) return;
    const std::vector<Candidate> starts = pool_;
    const double visits = trials_ * static_cast<double>(network_.tensors.size()) /
                          (static_cast<double>(starts.size()) * word_factor(graph_.used.size()));
    const AnnealOptions annealing{static_cast<std::uint64_t>(visits * moves_a_visit), 2.0, 16.0};
    const ReconfigureOptions pieces{8, static_cast<std::uint64_t>(visits / visits_a_piece)};
    for (const Candidate& start : starts) {
      if (deadline_.passed()) return;
      OrderTree tree(network_, start.tree);
      reconfigure(tree, pieces, deadline_);
      offer(tree.to_tree());
      anneal(tree, annealing, random_, deadline_);
      reconfigure(tree, pieces, deadline_);
      offer(tree.to_tree());
    }
  }

  const Network& network_;
  const Deadline& deadline_;
  DimGraph graph_;
  const SearchOptions& options_;
  base::Random random_;
  double trials_;
  double runs_;
  std::vector<Candidate> pool_;
};

}  // namespace

double SearchOptions::cost(const Network& network, const Tree& tree, double log2_flops) const {
  if (std::isinf(log2_most)) return log2_flops;
  constexpr double per_doubling = 1e6;  // more than operations can make up for
  return log2_flops + per_doubling * std::max(0.0, log2_peak(network, tree) - log2_most);
}

double affordable_trials(int trials, std::size_t tensors) {
  return std::max(0, trials) *
         std::min(1.0, full_budget_tensors / static_cast<double>(std::max<std::size_t>(1, tensors)));
}

Tree search_order(const Network& network, const SearchOptions& options, const Deadline& deadline) {
  return Search(network, options, deadline).run();
}

Tree polish_order(const Network& network, Tree tree, const SearchOptions& options, const Deadline& deadline) {
  double trials = options.trials;
  if (options.runs > 0) trials = std::min(trials, worth_trials(network, options.runs, log2_flops(network, tree)));
  const double visits = trials * static_cast<double>(network.tensors.size()) / word_factor(network.log2_size.size());
  if (!improvable(network) || trials < 1) return tree;
  OrderTree order_tree(network, tree);
  reconfigure(order_tree, {8, static_cast<std::uint64_t>(visits / visits_a_piece)}, deadline);
  Tree polished = order_tree.to_tree();
  if (std::isinf(options.log2_most)) return polished;
  const auto cost = [&](const Tree& t) { return options.cost(network, t, log2_flops(network, t)); };
  return cost(polished) <= cost(tree) ? polished : tree;
}

}  // namespace plated::planner
