// Combines the results of blocks, in double, by a tree whose shape depends on the number of blocks alone.
#pragma once

#include <cstdint>
#include <vector>

#include "plated/semiring.hpp"

namespace plated::engine {

struct Fold {
  Semiring semiring = Semiring::real;
  bool adds = false;  // or multiplies
  std::int64_t elements = 1;
  std::int64_t count = 1;  // of blocks
  /// All nodes of the tree are stored, so that single blocks can be replaced; else one sum for each of its levels.
  bool keeps_all = false;

  /// Nodes with this many children, in the order of blocks.
  static constexpr std::int64_t fan_in = 64;

  /// Levels above the blocks' own results; at least one.
  [[nodiscard]] int levels() const;
  /// Doubles that the tree takes.
  [[nodiscard]] std::int64_t size() const;

  /// Blocks come in order, one by one: adds the next one to the sums.
  void add(std::int64_t block, const double* result, double* tree, int threads) const;
  /// The total, once all blocks have been added.
  [[nodiscard]] const double* total(double* tree, int threads) const;

  /// Where the result of a block belongs, if all nodes are stored.
  [[nodiscard]] double* leaf(std::int64_t block, double* tree) const { return tree + block * elements; }
  /// Combines what blocks first … last − 1 reach, and returns the total.
  [[nodiscard]] const double* refold(std::int64_t first, std::int64_t last, double* tree, int threads) const;

 private:
  void combine(double* sum, const double* other, int threads) const;
  void copy(double* to, const double* from, int threads) const;
  void push(int level, std::int64_t index, const double* result, double* tree, int threads) const;
};

}  // namespace plated::engine
