// Directed messages on an unrooted contraction tree.
//
// Tensors and sinks are the leaves of one binary tree. A message from side A of an edge to side B holds the variables
// of A's tensors that B, tensors or sinks, still needs; each is computed once, whichever sinks lie behind it.
#include "planner/contract_network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/assert.hpp"
#include "planner/elimination.hpp"

namespace plated::planner {
namespace {

/// A plate's or batch dim's weight in the search, whatever its size: orders must not depend on plate sizes.
constexpr double nominal_log2_size = 6.0;

/// Nodes next to a node of an unrooted binary tree: three at most.
class Neighbours {
 public:
  void push_back(std::uint32_t node) { nodes_[count_++] = node; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::uint32_t operator[](std::size_t k) const { return nodes_[k]; }
  [[nodiscard]] auto begin() { return nodes_.begin(); }
  [[nodiscard]] auto end() { return nodes_.begin() + count_; }
  [[nodiscard]] auto begin() const { return nodes_.begin(); }
  [[nodiscard]] auto end() const { return nodes_.begin() + count_; }

 private:
  std::array<std::uint32_t, 3> nodes_{};
  std::uint32_t count_ = 0;
};

/// How often variables occur, ascending.
using Counts = std::vector<std::pair<DimId, std::uint32_t>>;

Counts added(Counts a, Counts b) {
  if (a.empty()) return b;
  Counts sum;
  sum.reserve(a.size() + b.size());
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end()) {
    if (x->first == y->first) {
      sum.emplace_back(x->first, x->second + y->second);
      ++x, ++y;
    } else {
      sum.push_back(x->first < y->first ? *x++ : *y++);
    }
  }
  sum.insert(sum.end(), x, a.end());
  sum.insert(sum.end(), y, b.end());
  return sum;
}

/// The tree, rooted at the first sink.
class MessageTree {
 public:
  MessageTree(ScheduleBuilder& builder, const Problem& problem, const SinkNetwork& network)
      : builder_(builder), problem_(problem), network_(network) {}

  std::vector<std::vector<ValueId>> run(const OrderOptions& options) {
    const Network search = search_network();
    root_at_first_sink(contraction_order(search, options));
    count_edges();
    order_children();
    return messages();
  }

 private:
  [[nodiscard]] std::size_t leaves() const { return network_.tensors.size() + network_.sinks.size(); }
  [[nodiscard]] bool is_sink(std::uint32_t node) const { return node >= network_.tensors.size() && node < leaves(); }

  /// An empty domain must not weigh −inf; what is in it is never computed anyway.
  [[nodiscard]] double log2_domain(DimId variable) const {
    return std::log2(static_cast<double>(std::max<std::int64_t>(problem_.domain[variable], 1)));
  }

  /// Variables, and those plates and batch dims that some values carry and some do not.
  Network search_network() const {
    std::vector<DimId> carried;  // by some value, once for each
    for (const ValueId v : network_.tensors) {
      carried.insert(carried.end(), builder_.carried(v).begin(), builder_.carried(v).end());
    }
    std::sort(carried.begin(), carried.end());
    SortedSet dims;  // those that the search sees, under their places here
    SortedSet uneven;
    Network search;
    for (auto d = carried.begin(), next = d; d != carried.end(); d = next) {
      next = std::upper_bound(d, carried.end(), *d);
      const bool variable = problem_.kind[*d] == DimKind::variable;
      if (!variable && static_cast<std::size_t>(next - d) == network_.tensors.size()) continue;
      if (!variable) uneven.push_back(*d);
      dims.push_back(*d);
      search.log2_size.push_back(variable ? log2_domain(*d) : nominal_log2_size);
      search.sliced.push_back(!variable);
    }
    search.tensors.reserve(leaves());
    const auto add = [&](const SortedSet& held) {
      std::vector<std::uint32_t>& tensor = search.tensors.emplace_back();
      tensor.reserve(held.size());
      for (const DimId d : held) {
        const auto found = std::lower_bound(dims.begin(), dims.end(), d);
        if (found != dims.end() && *found == d) tensor.push_back(static_cast<std::uint32_t>(found - dims.begin()));
      }
    };
    for (const ValueId v : network_.tensors) add(builder_.carried(v));
    for (const SortedSet& sink : network_.sinks) add(base::unite(sink, uneven));
    return search;
  }

  void root_at_first_sink(const Tree& tree) {
    const std::size_t nodes = leaves() + tree.merges.size();
    PLATED_ASSERT(tree.merges.size() + 1 == leaves());
    std::vector<Neighbours> neighbours(nodes);
    const auto join = [&](std::uint32_t a, std::uint32_t b) {
      neighbours[a].push_back(b);
      neighbours[b].push_back(a);
    };
    for (std::size_t m = 0; m < tree.merges.size(); ++m) {
      const auto [a, b] = tree.merges[m];
      const auto node = static_cast<std::uint32_t>(leaves() + m);
      if (m + 1 == tree.merges.size()) {
        join(a, b);  // the last merge is an edge of the unrooted tree, not a node
      } else {
        join(node, a);
        join(node, b);
      }
    }
    root_ = static_cast<std::uint32_t>(network_.tensors.size());
    parent_.assign(nodes, none);
    children_.assign(nodes, {});
    preorder_.reserve(nodes);
    std::vector<std::uint32_t> stack{root_};
    while (!stack.empty()) {
      const std::uint32_t u = stack.back();
      stack.pop_back();
      preorder_.push_back(u);
      for (const std::uint32_t n : neighbours[u]) {
        if (n == parent_[u]) continue;
        parent_[n] = u;
        children_[u].push_back(n);
        stack.push_back(n);
      }
    }
  }

  /// E(u): the variables on both sides of the edge from u to its parent, by counting them below it.
  void count_edges() {
    std::vector<Counts> below(parent_.size());
    SortedSet held;  // by leaves, once for each
    for (std::uint32_t u = 0; u < leaves(); ++u) {
      const SortedSet variables =
          is_sink(u) ? network_.sinks[u - network_.tensors.size()] : builder_.carried_variables(network_.tensors[u]);
      below[u].reserve(variables.size());
      for (const DimId v : variables) below[u].emplace_back(v, 1);
      held.insert(held.end(), variables.begin(), variables.end());
    }
    std::sort(held.begin(), held.end());
    const auto is_whole = [&](const std::pair<DimId, std::uint32_t>& entry) {
      const auto [first, last] = std::equal_range(held.begin(), held.end(), entry.first);
      return static_cast<std::uint32_t>(last - first) == entry.second;
    };
    edge_.assign(parent_.size(), {});
    largest_.assign(parent_.size(), 0.0);
    sinks_below_.assign(parent_.size(), 0);
    for (std::size_t k = preorder_.size(); k-- > 0;) {
      const std::uint32_t u = preorder_[k];
      sinks_below_[u] += is_sink(u) ? 1 : 0;
      for (const std::uint32_t c : children_[u]) {
        sinks_below_[u] += sinks_below_[c];
        largest_[u] = std::max(largest_[u], largest_[c]);
        below[u] = added(std::move(below[u]), std::exchange(below[c], {}));
      }
      std::erase_if(below[u], is_whole);
      double size = 0;
      edge_[u].reserve(below[u].size());
      for (const auto& [v, count] : below[u]) {
        edge_[u].push_back(v);
        size += log2_domain(v);
      }
      largest_[u] = std::max(largest_[u], size);
    }
  }

  /// The subtree with the larger intermediates first: its peak passes before the other's results have to be held.
  void order_children() {
    preorder_.clear();
    std::vector<std::uint32_t> stack{root_};
    while (!stack.empty()) {
      const std::uint32_t u = stack.back();
      stack.pop_back();
      preorder_.push_back(u);
      // Reversed preorder is the order of computation, so the child pushed last is computed last.
      std::stable_sort(children_[u].begin(), children_[u].end(),
                       [&](std::uint32_t a, std::uint32_t b) { return largest_[a] > largest_[b]; });
      for (const std::uint32_t c : children_[u]) stack.push_back(c);
    }
  }

  std::vector<std::vector<ValueId>> messages() {
    up_.assign(parent_.size(), none);
    down_.assign(parent_.size(), none);
    for (std::size_t k = preorder_.size(); k-- > 1;) {
      const std::uint32_t u = preorder_[k];
      // The edge next to the root belongs to the first sink, whose last contraction is the caller's. Other sinks may
      // need that side too, but never in this direction.
      if (parent_[u] != root_) up_[u] = message(up_inputs(u), u);
    }
    for (const std::uint32_t u : preorder_) {
      if (u != root_ && parent_[u] != root_ && sinks_below_[u] > 0 && !is_sink(u))
        down_[u] = message(down_inputs(u), u);
    }
    std::vector<std::vector<ValueId>> result;
    for (std::uint32_t u = root_; is_sink(u); ++u) {
      result.push_back(u != root_             ? down_inputs(u)
                       : children_[u].empty() ? std::vector<ValueId>{}
                                              : up_inputs(children_[u][0]));
    }
    return result;
  }

  std::vector<ValueId> up_inputs(std::uint32_t u) const {
    if (u < network_.tensors.size()) return {network_.tensors[u]};
    std::vector<ValueId> inputs;
    for (const std::uint32_t c : children_[u]) {
      if (up_[c] != none) inputs.push_back(up_[c]);
    }
    return inputs;
  }

  /// From the parent's side into u: what comes down to the parent, and what its other child sends up.
  std::vector<ValueId> down_inputs(std::uint32_t u) const {
    const std::uint32_t p = parent_[u];
    std::vector<ValueId> inputs;
    if (p == root_) return inputs;
    if (down_[p] != none) inputs.push_back(down_[p]);
    for (const std::uint32_t c : children_[p]) {
      if (c != u && up_[c] != none) inputs.push_back(up_[c]);
    }
    return inputs;
  }

  ValueId message(std::vector<ValueId> inputs, std::uint32_t u) {
    if (inputs.empty()) return none;
    return builder_.contract({.inputs = std::move(inputs), .keep = edge_[u], .leaf = network_.leaf});
  }

  ScheduleBuilder& builder_;
  const Problem& problem_;
  const SinkNetwork& network_;
  std::uint32_t root_ = 0;
  std::vector<std::uint32_t> parent_;
  std::vector<Neighbours> children_;
  std::vector<std::uint32_t> preorder_;
  std::vector<SortedSet> edge_;
  std::vector<double> largest_;
  std::vector<std::uint32_t> sinks_below_;
  std::vector<ValueId> up_;
  std::vector<ValueId> down_;
};

}  // namespace

std::vector<std::vector<ValueId>> contract_network(ScheduleBuilder& builder, const Problem& problem,
                                                   const SinkNetwork& network, const OrderOptions& options) {
  if (network.tensors.empty()) return std::vector<std::vector<ValueId>>(network.sinks.size());
  return MessageTree(builder, problem, network).run(options);
}

}  // namespace plated::planner
