// Union-find over numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace plated::base {

/// Near-linear: paths are halved as they are walked. The root of a set is its smallest member, in whatever order it was
/// joined.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  std::size_t root(std::size_t member) {
    while (parent_[member] != member) member = parent_[member] = parent_[parent_[member]];
    return member;
  }
  void join(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace plated::base
