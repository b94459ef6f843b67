// Directed messages on an unrooted contraction tree.
//
// Tensors and sinks are the leaves of one binary tree. A message from side A of an edge to side B holds the variables
// of A's tensors that B, tensors or sinks, still needs; each is computed once, whichever sinks lie behind it.
#include "planner/contract_network.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/assert.hpp"
#include "planner/elimination.hpp"

namespace plated::planner {
namespace {

/// A plate's or batch dim's weight in the search, whatever its size: orders must not depend on plate sizes.
constexpr double nominal_log2_size = 6.0;

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

  /// Variables, and those plates and batch dims that some values carry and some do not.
  Network search_network() const {
    std::map<DimId, std::uint32_t> carriers;
    for (const ValueId v : network_.tensors) {
      for (const DimId d : builder_.carried(v)) ++carriers[d];
    }
    std::map<DimId, std::uint32_t> local;
    SortedSet uneven;
    Network search;
    for (const auto& [d, count] : carriers) {
      const bool variable = problem_.kind[d] == DimKind::variable;
      if (!variable && count == network_.tensors.size()) continue;
      if (!variable) uneven.push_back(d);
      local[d] = static_cast<std::uint32_t>(search.log2_size.size());
      // An empty domain must not weigh −inf; what is in it is never computed anyway.
      search.log2_size.push_back(
          variable ? std::log2(static_cast<double>(std::max<std::int64_t>(problem_.domain[d], 1))) : nominal_log2_size);
    }
    const auto add = [&](const SortedSet& dims) {
      std::vector<std::uint32_t> tensor;
      for (const DimId d : dims) {
        if (const auto found = local.find(d); found != local.end()) tensor.push_back(found->second);
      }
      search.tensors.push_back(std::move(tensor));
    };
    for (const ValueId v : network_.tensors) add(builder_.carried(v));
    for (const SortedSet& sink : network_.sinks) add(base::unite(sink, uneven));
    return search;
  }

  void root_at_first_sink(const Tree& tree) {
    const std::size_t nodes = leaves() + tree.merges.size();
    PLATED_ASSERT(tree.merges.size() + 1 == leaves());
    std::vector<std::vector<std::uint32_t>> neighbours(nodes);
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
    std::map<DimId, std::uint32_t> total;
    const auto leaf_variables = [&](std::uint32_t u) {
      return is_sink(u) ? network_.sinks[u - network_.tensors.size()] : builder_.carried_variables(network_.tensors[u]);
    };
    std::vector<std::map<DimId, std::uint32_t>> below(parent_.size());
    for (std::uint32_t u = 0; u < leaves(); ++u) {
      for (const DimId v : leaf_variables(u)) {
        ++below[u][v];
        ++total[v];
      }
    }
    edge_.assign(parent_.size(), {});
    largest_.assign(parent_.size(), 0.0);
    sinks_below_.assign(parent_.size(), 0);
    for (std::size_t k = preorder_.size(); k-- > 0;) {
      const std::uint32_t u = preorder_[k];
      sinks_below_[u] += is_sink(u) ? 1 : 0;
      for (const std::uint32_t c : children_[u]) {
        sinks_below_[u] += sinks_below_[c];
        largest_[u] = std::max(largest_[u], largest_[c]);
        if (below[c].size() > below[u].size()) std::swap(below[c], below[u]);
        for (const auto& [v, count] : below[c]) below[u][v] += count;
        below[c].clear();
      }
      std::erase_if(below[u], [&](const auto& entry) { return entry.second == total[entry.first]; });
      double size = 0;
      for (const auto& [v, count] : below[u]) {
        edge_[u].push_back(v);
        size += std::log2(static_cast<double>(std::max<std::int64_t>(problem_.domain[v], 1)));
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
    return builder_.contract({.inputs = std::move(inputs), .keep = edge_[u], .product = {}, .leaf = network_.leaf});
  }

  ScheduleBuilder& builder_;
  const Problem& problem_;
  const SinkNetwork& network_;
  std::uint32_t root_ = 0;
  std::vector<std::uint32_t> parent_;
  std::vector<std::vector<std::uint32_t>> children_;
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
