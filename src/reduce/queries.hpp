// Chooses the parts of a graph to sweep for the marginals of all variables; distributions allow leaving some out.
#pragma once

#include <span>
#include <vector>

#include "plated/factor_graph.hpp"

namespace plated::reduce {

/// A part of a graph that has the posteriors of its own variables: what lies outside is independent of it, or sums to
/// one.
struct Query {
  std::vector<std::size_t> factors;  ///< ascending
  std::vector<DimId> variables;      ///< that it is to answer for: each variable of the graph has one query
  double flops = 0;  ///< of its value, by a quick estimate; 0 where the graph leaves no choice of queries
};

/// Queries that cover all variables, cheap together: one for each sink of a directed model at most, fewer where sharing
/// a sweep costs less. A graph without distributions has one, and so has one with chains, and one of so few flops that
/// pruning could not save what it costs. Variables in `observed` have evidence that no factor of the graph shows.
[[nodiscard]] std::vector<Query> marginal_queries(const FactorGraph& graph, std::span<const DimId> observed = {},
                                                  double cheap_flops = 2e6);

/// One query for the posteriors of some variables, alone or together: without the barren variables that are neither
/// asked for nor observed.
[[nodiscard]] Query query_for(const FactorGraph& graph, std::vector<DimId> asked, std::span<const DimId> observed = {});

/// The graph of a query: the same dims under the same ids, without outputs but the total.
[[nodiscard]] FactorGraph query_graph(const FactorGraph& graph, const Query& query);

}  // namespace plated::reduce
