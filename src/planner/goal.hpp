// What a network leads to: the components whose variables it keeps apart, and those in slices of a chain.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "planner/elimination.hpp"

namespace plated::planner {

/// Components whose factors are contracted unsummed.
using Opened = std::set<std::uint32_t>;

/// What a network leaves: the sum over all but some variables of all but some nodes, which the others lead to.
struct Goal {
  SortedSet variables;
  SortedSet without;  // nodes
  auto operator<=>(const Goal&) const = default;
};

/// The part of a goal that lies in slices of a component's chain, and the goal whose network is the context of the
/// component's message.
struct SplitGoal {
  Opened inside;  // components, that of the chain among them
  Goal around;
  SortedSet carried;  // asked of the ends where messages come out
};

class Goals {
 public:
  Goals(const Problem& problem, const Elimination& elimination);

  [[nodiscard]] bool is_scan(std::uint32_t component) const {
    return elimination_.components[component].scan.has_value();
  }
  [[nodiscard]] Opened opened_by(const Goal& goal) const;
  /// Where a goal is about slices of a chain: the innermost component whose messages it needs in both directions.
  [[nodiscard]] std::optional<std::uint32_t> scanned(const Goal& goal) const;
  [[nodiscard]] SplitGoal split(const Goal& goal, std::uint32_t scanned) const;

 private:
  /// Adds a component and all that its message leads through, as far as `last`, which is among them.
  void open(std::uint32_t component, Opened& opened, std::uint32_t last = none) const;

  const Elimination& elimination_;
  std::vector<std::uint32_t> home_;  // [dim]: the component that sums a variable
};

}  // namespace plated::planner
