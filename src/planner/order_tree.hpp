// A contraction tree that can be reshaped in place: nodes with parents, and their dims as bit sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "planner/contraction_order.hpp"

namespace plated::planner {

/// Ids are as in Tree when it is made: leaves first. Later moves keep the ids of inner nodes but not their order.
/// Dims are laid out so that all dims in one 64-bit word have the same size: the size of a set is then a sum over words
/// of population count times log size, whatever the sizes are.
class OrderTree {
 public:
  using Word = std::uint64_t;
  static constexpr std::uint32_t none = 0xFFFFFFFFu;

  OrderTree(const Network& network, const Tree& tree);

  [[nodiscard]] Tree to_tree() const;

  [[nodiscard]] std::uint32_t leaves() const { return leaves_; }
  [[nodiscard]] std::uint32_t nodes() const { return 2 * leaves_ - 1; }
  [[nodiscard]] bool is_leaf(std::uint32_t node) const { return node < leaves_; }
  [[nodiscard]] std::uint32_t root() const { return root_; }
  [[nodiscard]] std::uint32_t left(std::uint32_t node) const { return links_[node].left; }
  [[nodiscard]] std::uint32_t right(std::uint32_t node) const { return links_[node].right; }
  [[nodiscard]] std::uint32_t parent(std::uint32_t node) const { return links_[node].parent; }
  /// Operations of the merge that makes an inner node; at most 2^1000, so that sums of them stay finite.
  [[nodiscard]] double flops(std::uint32_t node) const { return flops_[node]; }
  [[nodiscard]] double total_flops() const;

  [[nodiscard]] std::size_t words() const { return log2_dim_.size(); }
  [[nodiscard]] const Word* dims(std::uint32_t node) const { return bits_.data() + node * words(); }
  /// Log size of each dim of a word.
  [[nodiscard]] double log2_dim(std::size_t word) const { return log2_dim_[word]; }

  /// The other way to join three subtrees: below `node`, its inner child `child` = (c, d) and the other child a become
  /// child = (a, d) and node = (child, c), with c the given child of `child`.
  struct Rotation {
    std::uint32_t node;
    std::uint32_t child;
    std::uint32_t a;
    std::uint32_t c;
    std::uint32_t d;
    double node_flops;
    double child_flops;
  };
  /// Prices the rotation; its bits stay in a scratch set until the next price.
  [[nodiscard]] Rotation price(std::uint32_t node, std::uint32_t child, std::uint32_t c);
  /// Carries out the rotation priced last.
  void rotate(const Rotation& rotation);

  /// Makes two nodes the children of an inner node. The caller relinks all nodes it unlinks; dims and flops follow by
  /// `refresh`, children before parents.
  void link(std::uint32_t node, std::uint32_t left, std::uint32_t right);
  /// Recomputes an inner node's flops, and its dims from `kept`: those of the surrounding subtree that are still
  /// needed.
  void refresh(std::uint32_t node, const Word* kept);

 private:
  struct Links {
    std::uint32_t left = none;
    std::uint32_t right = none;
    std::uint32_t parent = none;
  };

  void lay_out(const Network& network);
  [[nodiscard]] Word* mutable_dims(std::uint32_t node) { return bits_.data() + node * words(); }
  [[nodiscard]] double union_flops(const Word* a, const Word* b) const;

  std::uint32_t leaves_;
  std::uint32_t root_ = 0;
  std::vector<double> log2_dim_;         // [word]
  std::vector<std::uint32_t> position_;  // [dim]: its bit
  std::vector<Links> links_;             // [node]
  std::vector<Word> bits_;               // [node][word]
  std::vector<double> flops_;            // [node]
  std::vector<Word> scratch_;            // [word]
};

}  // namespace plated::planner
