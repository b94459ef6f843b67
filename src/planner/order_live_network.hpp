// A network while it is being contracted: the live nodes, their dims, and the merges so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "planner/contraction_order.hpp"

namespace plated::planner {

/// Node ids are those of Tree. A merge costs time linear in its operands' dims, and amortised constant time per dim for
/// the holders' lists, so that a whole contraction is near linear in the network. Lists lie in two arrays: searches
/// make very many of these.
class LiveNetwork {
 public:
  explicit LiveNetwork(const Network& network);

  /// Joins two live nodes, sums the dims that no other node holds, and returns the new node. Spans end with it.
  std::uint32_t merge(std::uint32_t a, std::uint32_t b);

  /// Dims of a live node, ascending.
  [[nodiscard]] std::span<const std::uint32_t> dims(std::uint32_t node) const {
    return {dims_.data() + nodes_[node].begin, nodes_[node].count};
  }
  /// Elements of a live node, base 2.
  [[nodiscard]] double log2_size(std::uint32_t node) const { return log2_size_[node]; }
  [[nodiscard]] double log2_dim(std::uint32_t dim) const { return network_.log2_size[dim]; }
  [[nodiscard]] bool is_sliced(std::uint32_t dim) const { return !network_.sliced.empty() && network_.sliced[dim]; }
  [[nodiscard]] bool alive(std::uint32_t node) const { return alive_[node] != 0; }
  /// How many live nodes hold a dim.
  [[nodiscard]] std::uint32_t degree(std::uint32_t dim) const { return degree_[dim]; }
  /// Live nodes that hold a dim, oldest first.
  [[nodiscard]] std::span<const std::uint32_t> holders(std::uint32_t dim);
  /// Live nodes, ascending.
  [[nodiscard]] std::vector<std::uint32_t> live_nodes() const;

  struct Sizes {
    double joint;   ///< log2 of all dims of both: what the merge costs
    double result;  ///< log2 of the dims that remain
  };
  [[nodiscard]] Sizes sizes(std::uint32_t a, std::uint32_t b) const;

  /// Operations of the merges so far, base 2; minus infinity before the first.
  [[nodiscard]] double log2_flops() const;
  [[nodiscard]] const Tree& tree() const { return tree_; }
  [[nodiscard]] Tree take_tree() { return std::move(tree_); }

 private:
  struct List {
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  void make_room(std::size_t dims);
  void add_holder(std::uint32_t dim, std::uint32_t node);
  void drop_dead_holders(std::uint32_t dim);

  const Network& network_;
  std::vector<List> nodes_;          // in dims_
  std::vector<std::uint32_t> dims_;  // those of dead nodes stay until their room is needed
  std::size_t live_dims_ = 0;        // entries of dims_ that are those of live nodes
  std::vector<double> log2_size_;
  std::vector<char> alive_;
  std::vector<std::uint32_t> degree_;
  std::vector<List> held_;              // [dim]: in holders_, where there is room for twice its degree at first
  std::vector<std::uint32_t> holders_;  // dead nodes stay until their dim is asked for, or their room is needed
  std::vector<double> joint_;           // [merge]: log2 of its operations
  Tree tree_;
};

}  // namespace plated::planner
