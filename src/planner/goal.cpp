// Finds what a goal opens.
#include "planner/goal.hpp"

#include <algorithm>

namespace plated::planner {

using base::unite;

SortedSet ScanRecord::results(const SortedSet& variables) const {
  SortedSet ends;
  for (const ProblemLink& link : links) {
    if (const std::optional<DimId>& end = result(link); end && base::contains(variables, *end)) ends.push_back(*end);
  }
  return base::sorted(std::move(ends));
}

Goals::Goals(const Problem& problem, const Elimination& elimination)
    : elimination_(elimination), home_(problem.domain.size(), none) {
  for (std::uint32_t c = 0; c < elimination_.components.size(); ++c) {
    for (const DimId v : elimination_.components[c].variables) home_[v] = c;
  }
}

void Goals::open(std::uint32_t component, Opened& opened, std::uint32_t last) const {
  const auto consumer = [&](std::uint32_t c) { return elimination_.nodes[elimination_.components[c].result].consumer; };
  for (std::uint32_t c = component; c != none && opened.insert(c).second; c = consumer(c)) {
    if (c == last) return;
  }
}

Opened Goals::opened_by(const Goal& goal) const {
  Opened opened;
  for (const DimId v : goal.variables) open(home_[v], opened);
  for (const std::uint32_t n : goal.without) open(elimination_.nodes[n].consumer, opened);
  return opened;
}

std::optional<std::uint32_t> Goals::scanned(const Goal& goal) const {
  std::optional<std::uint32_t> innermost;
  const auto plates = [&](std::uint32_t c) { return elimination_.components[c].leaf.size(); };
  for (const std::uint32_t c : opened_by(goal)) {
    if (is_scan(c) && (!innermost || plates(c) > plates(*innermost))) innermost = c;
  }
  return innermost;
}

SplitGoal Goals::split(const Goal& goal, std::uint32_t scanned) const {
  SplitGoal result;
  const auto lies_inside = [&](std::uint32_t c) {
    Opened way;
    open(c, way, scanned);
    return way.contains(scanned);
  };
  const ComponentRecord& component = elimination_.components[scanned];
  result.around.variables = component.remaining;
  for (const DimId v : goal.variables) {
    if (lies_inside(home_[v])) {
      open(home_[v], result.inside, scanned);
    } else {
      result.around.variables = unite(result.around.variables, {v});
    }
  }
  result.around.without = {component.result};
  for (const std::uint32_t n : goal.without) {
    if (lies_inside(elimination_.nodes[n].consumer)) {
      open(elimination_.nodes[n].consumer, result.inside, scanned);
    } else {
      result.around.without = unite(result.around.without, {n});
    }
  }
  result.carried = component.scan->results(goal.variables);
  return result;
}

}  // namespace plated::planner
