// Memoises orders, since every question plans the same networks again.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "planner/contraction_order.hpp"

namespace plated::planner {

/// Trees by network, for one set of options. Any number of threads may use one at once.
class OrderMemo {
 public:
  [[nodiscard]] std::optional<Tree> find(const Network& network) const;
  void keep(const Network& network, const Tree& tree);

 private:
  struct Entry {
    Network network;
    Tree tree;
  };
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace plated::planner
