// Cuts subtrees out of a tree, solves them by dynamic programming and puts them back.
#include "planner/order_reconfigure.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "planner/order_optimal.hpp"

namespace plated::planner {
namespace {

// A gain below this share of the piece is rounding, not a better tree: chasing it might never end.
constexpr double least_gain = 1e-9;

class Reconfiguration {
 public:
  Reconfiguration(OrderTree& tree, const ReconfigureOptions& options, const Deadline& deadline)
      : tree_(tree),
        deadline_(deadline),
        piece_(std::min(options.piece, SmallNetwork::max_tensors)),
        pieces_left_(options.max_pieces),
        dirty_(tree.nodes(), 1),
        kept_(tree.words()) {}

  /// Whether any piece gained and there is something left to spend.
  bool sweep() {
    bool gained = false;
    for (const std::uint32_t node : top_down()) {
      if (!dirty_[node]) continue;
      if (pieces_left_ == 0 || deadline_.passed()) return false;
      --pieces_left_;
      dirty_[node] = 0;
      gained |= improve(node);
    }
    return gained;
  }

 private:
  [[nodiscard]] std::vector<std::uint32_t> top_down() const {
    std::vector<std::uint32_t> order{tree_.root()};
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const std::uint32_t child : {tree_.left(order[i]), tree_.right(order[i])}) {
        if (!tree_.is_leaf(child)) order.push_back(child);
      }
    }
    return order;
  }

  /// Opens the dearest inner node again and again: the cut below `node` where most is to be gained.
  void cut(std::uint32_t node) {
    rim_ = {tree_.left(node), tree_.right(node)};
    inner_ = {node};
    cost_ = tree_.flops(node);
    while (rim_.size() < piece_) {
      const auto dearest = std::max_element(
          rim_.begin(), rim_.end(), [&](std::uint32_t a, std::uint32_t b) { return tree_.flops(a) < tree_.flops(b); });
      const std::uint32_t opened = *dearest;
      if (tree_.is_leaf(opened)) break;  // leaves cost nothing, so that all of the rim are leaves
      inner_.push_back(opened);
      cost_ += tree_.flops(opened);
      *dearest = tree_.left(opened);
      rim_.push_back(tree_.right(opened));
    }
  }

  /// The cut as a small network; none where its dims fall into too many classes.
  std::optional<SmallNetwork> classify(std::uint32_t node) {
    SmallNetwork small;
    small.tensors = rim_.size();
    classes_.clear();
    for (std::size_t w = 0; w < tree_.words(); ++w) {
      OrderTree::Word all = 0;
      for (const std::uint32_t r : rim_) all |= tree_.dims(r)[w];
      const OrderTree::Word outer = tree_.dims(node)[w];
      while (all != 0) {
        // Takes out all dims of the word that have the same holders as its first one.
        const OrderTree::Word first = all & (~all + 1);
        std::uint32_t holders = (outer & first) != 0 ? 1u << rim_.size() : 0;
        OrderTree::Word same = (outer & first) != 0 ? all & outer : all & ~outer;
        for (std::size_t i = 0; i < rim_.size(); ++i) {
          const OrderTree::Word held = tree_.dims(rim_[i])[w];
          holders |= (held & first) != 0 ? 1u << i : 0;
          same &= (held & first) != 0 ? held : ~held;
        }
        all &= ~same;
        add_class(holders, std::popcount(same) * tree_.log2_dim(w));
      }
    }
    if (classes_.size() > SmallNetwork::max_classes) return std::nullopt;
    small.classes = classes_.size();
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      const OrderTree::Word bit = OrderTree::Word{1} << c;
      small.size[c] = std::exp2(classes_[c].second);
      for (std::size_t i = 0; i < rim_.size(); ++i) small.held[i] |= (classes_[c].first >> i & 1) != 0 ? bit : 0;
      if ((classes_[c].first >> rim_.size() & 1) != 0) small.outside |= bit;
    }
    return small;
  }

  void add_class(std::uint32_t holders, double log2_size) {
    for (auto& [known, size] : classes_) {
      if (known == holders) {
        size += log2_size;
        return;
      }
    }
    classes_.emplace_back(holders, log2_size);
  }

  bool improve(std::uint32_t node) {
    cut(node);
    if (rim_.size() < 3) return false;
    const std::optional<SmallNetwork> small = classify(node);
    if (!small || !(solver_.solve(*small, cost_ * (1 - least_gain)) < cost_)) return false;
    rebuild(node);
    return true;
  }

  /// Puts the solver's tree in the place of the piece, with the same inner nodes.
  void rebuild(std::uint32_t node) {
    const std::vector<std::pair<std::uint32_t, std::uint32_t>> merges = solver_.merges();
    std::vector<std::uint32_t> ids = rim_;
    for (std::size_t k = 0; k < merges.size(); ++k) {
      const std::uint32_t id = k + 1 == merges.size() ? node : inner_[k + 1];
      tree_.link(id, ids[merges[k].first], ids[merges[k].second]);
      ids.push_back(id);
    }
    const std::vector<OrderTree::Word> outer(tree_.dims(node), tree_.dims(node) + tree_.words());
    for (std::size_t k = 0; k < merges.size(); ++k) {
      // Needed above a node: what the rest of the network holds, or a rim node that is not below it.
      kept_ = outer;
      std::vector<char> below(ids.size(), 0);
      below[rim_.size() + k] = 1;
      for (std::size_t m = k + 1; m-- > 0;) {
        if (below[rim_.size() + m]) below[merges[m].first] = below[merges[m].second] = 1;
      }
      for (std::size_t i = 0; i < rim_.size(); ++i) {
        if (below[i]) continue;
        for (std::size_t w = 0; w < tree_.words(); ++w) kept_[w] |= tree_.dims(rim_[i])[w];
      }
      tree_.refresh(ids[rim_.size() + k], kept_.data());
      dirty_[ids[rim_.size() + k]] = 1;
    }
    // Pieces rooted higher up may reach into this one.
    std::uint32_t up = tree_.parent(node);
    for (std::size_t steps = 0; up != OrderTree::none && steps < piece_; ++steps, up = tree_.parent(up)) dirty_[up] = 1;
  }

  OrderTree& tree_;
  const Deadline& deadline_;
  std::size_t piece_;
  std::uint64_t pieces_left_;
  std::vector<char> dirty_;  // [node]: the piece below it may have changed since it was last solved
  std::vector<OrderTree::Word> kept_;
  std::vector<std::uint32_t> rim_;
  std::vector<std::uint32_t> inner_;
  double cost_ = 0;
  std::vector<std::pair<std::uint32_t, double>> classes_;  // holders (bit rim size: outside), log2 size
  OptimalSolver solver_;
};

}  // namespace

void reconfigure(OrderTree& tree, const ReconfigureOptions& options, const Deadline& deadline) {
  if (tree.leaves() < 3) return;
  Reconfiguration reconfiguration(tree, options, deadline);
  while (reconfiguration.sweep()) {
  }
}

}  // namespace plated::planner
