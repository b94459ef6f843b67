// Finds two entangled variables and the chain of factors that joins them.
#include "planner/certificate.hpp"

#include <algorithm>
#include <deque>
#include <string>

#include "base/assert.hpp"
#include "planner/elimination.hpp"

namespace plated::planner {
namespace {

using base::contains;
using base::subtract;

struct Pair {
  DimId u, w, a, b;
};

/// u, w with a ∈ P(u) ∖ P(w) and b ∈ P(w) ∖ P(u). They exist: the plate sets' union is none of them ([TVE] App. A.1).
Pair entangled_pair(const Problem& problem, const SortedSet& variables) {
  for (const DimId u : variables) {
    for (const DimId w : variables) {
      const SortedSet only_u = subtract(problem.variable_plates[u], problem.variable_plates[w]);
      const SortedSet only_w = subtract(problem.variable_plates[w], problem.variable_plates[u]);
      if (!only_u.empty() && !only_w.empty()) return {u, w, only_u.front(), only_w.front()};
    }
  }
  PLATED_ASSERT(false);
  return {};
}

/// The shortest path from u to w through factors, and between them through variables, that lie in both plates.
std::vector<std::uint32_t> joining_factors(const Problem& problem, const Pair& pair) {
  const auto in_both = [&](const SortedSet& plates) { return contains(plates, pair.a) && contains(plates, pair.b); };
  std::vector<std::vector<std::uint32_t>> holders(problem.domain.size());
  for (std::uint32_t f = 0; f < problem.factors.size(); ++f) {
    if (!in_both(problem.factors[f].plates)) continue;
    for (const DimId v : problem.factors[f].variables) holders[v].push_back(f);
  }
  std::vector<std::uint32_t> previous(problem.factors.size(), none);
  std::vector<bool> seen(problem.factors.size(), false);
  std::deque<std::uint32_t> queue;
  for (const std::uint32_t f : holders[pair.u]) {
    queue.push_back(f);
    seen[f] = true;
  }
  while (!queue.empty()) {
    const std::uint32_t f = queue.front();
    queue.pop_front();
    if (contains(problem.factors[f].variables, pair.w)) {
      std::vector<std::uint32_t> path;
      for (std::uint32_t k = f; k != none; k = previous[k]) path.push_back(k);
      std::reverse(path.begin(), path.end());
      return path;
    }
    for (const DimId v : problem.factors[f].variables) {
      if (!in_both(problem.variable_plates[v])) continue;
      for (const std::uint32_t next : holders[v]) {
        if (seen[next]) continue;
        seen[next] = true;
        previous[next] = f;
        queue.push_back(next);
      }
    }
  }
  PLATED_ASSERT(false);
  return {};
}

}  // namespace

IntractableError intractable(const Problem& problem, const FactorGraph& graph, const SortedSet& entangled) {
  const Pair pair = entangled_pair(problem, entangled);
  const auto dim = [&](DimId d) { return graph.dims()[d].name; };
  Certificate certificate{.u = dim(pair.u), .w = dim(pair.w), .a = dim(pair.a), .b = dim(pair.b), .factors = {}};
  std::string chain;
  for (const std::uint32_t f : joining_factors(problem, pair)) {
    if (problem.factors[f].operand < 0) continue;  // ties two names of a variable
    certificate.factors.push_back(graph.factors()[problem.factors[f].operand].name);
    chain += (chain.empty() ? "" : ", ") + certificate.factors.back();
  }
  const std::string message =
      "intractable: variable '" + certificate.u + "' is in plate '" + certificate.a + "' but not in '" + certificate.b +
      "', variable '" + certificate.w + "' is in plate '" + certificate.b + "' but not in '" + certificate.a +
      "', and factors in both plates join them: " + chain + ". The cost would be exponential in a plate's size.";
  return {message, std::move(certificate)};
}

}  // namespace plated::planner
